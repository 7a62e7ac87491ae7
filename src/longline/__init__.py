"""Longline: one crawl engine that speaks five contracts."""

__version__ = "0.1.0"
