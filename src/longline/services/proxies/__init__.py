"""Proxies and their pools."""
