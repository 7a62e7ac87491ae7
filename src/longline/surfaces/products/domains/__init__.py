"""Domains of the product contract, and their proxies."""
