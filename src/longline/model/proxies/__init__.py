"""Proxies and pools."""
