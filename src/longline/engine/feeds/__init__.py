"""Feeds and sitemaps: finding, polling and reading them."""
