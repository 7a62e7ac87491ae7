"""Proxies, pools and alerts, on either engine."""
