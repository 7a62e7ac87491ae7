"""Headers that the order of a download may set in its requests."""

from longline.model.fetch.credentials import Headers

RESERVED_HEADERS = frozenset({"accept-encoding", "range", "if-range", "host", "connection", "content-length"})
"""Headers that no order can set: digest and length depend on them, or they belong to the client."""


def permitted_headers(headers: Headers) -> Headers:
    """Return the headers of an order without those that it cannot set."""
    return tuple((name, value) for name, value in headers if name.lower() not in RESERVED_HEADERS)
