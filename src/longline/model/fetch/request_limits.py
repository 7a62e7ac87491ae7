"""Limits of requests that the crawler sends."""

MAX_REQUEST_BODY_BYTES = 16 * 1024 * 1024
"""Largest body of a request: an item that goes to a webhook may have the text of a long page."""
