"""Pages of proxies."""
