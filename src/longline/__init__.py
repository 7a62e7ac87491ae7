"""Longline: one crawl engine behind several HTTP contracts."""

__version__ = "0.1.0"
