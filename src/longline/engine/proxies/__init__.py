"""Proxies: rotation and probes."""
