"""Discovered links and domains of the interval-job contract."""
