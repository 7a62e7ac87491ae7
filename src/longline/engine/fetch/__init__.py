"""Fetching: requests, redirects, robots.txt and challenges."""
