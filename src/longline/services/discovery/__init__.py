"""Discovered links and candidate sources."""
