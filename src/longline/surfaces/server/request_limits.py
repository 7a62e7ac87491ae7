"""Largest sizes of requests, common to all HTTP APIs."""

MAX_BODY_BYTES = 10_000_000
"""Largest body of a request."""

MAX_HEAD_BYTES = 65_536
"""Largest head of a request: its request line and its header fields."""
