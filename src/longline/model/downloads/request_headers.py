"""Headers that the order of a download may set in its requests."""

from longline.model.fetch.credentials import Headers

MAX_HEADERS, MAX_HEADER_BYTES = 10, 1024
"""Largest number of headers that an order gives for one file, and the largest size of a value."""

RESERVED_HEADERS = frozenset({"accept-encoding", "range", "if-range", "host", "connection", "content-length"})
"""Headers that no order can set: digest and length depend on them, or they belong to the client."""


def permitted_headers(headers: Headers) -> Headers:
    """Return the headers of an order without those that it cannot set."""
    return tuple((name, value) for name, value in headers if name.lower() not in RESERVED_HEADERS)
