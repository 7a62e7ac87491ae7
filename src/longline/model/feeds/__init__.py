"""Feeds and sitemaps: their rows, entries and polls."""
