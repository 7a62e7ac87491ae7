"""Parsers of feeds and sitemaps."""
