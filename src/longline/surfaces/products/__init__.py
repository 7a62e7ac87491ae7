"""The API of product tasks, domains, proxies and products."""
