"""Sinks of a crawl, and the progress of all sinks."""
