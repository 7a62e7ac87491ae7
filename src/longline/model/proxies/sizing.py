"""Sizing: the number of proxies that a source needs for a rate of requests."""

from longline.model.errors import BadInput

DEFAULT_BUFFER_PERCENT = 20
"""Share of proxies that are there for those which fail."""


DEFAULT_REQUESTS_PER_HOUR = 20
"""Requests in an hour that one proxy can bear."""


def proxies_needed(urls_per_hour: int, per_proxy_per_hour: int, buffer_percent: int = 0) -> int:
    """Return the number of proxies for so many URLs an hour, each with so many requests an hour, and a buffer."""
    if urls_per_hour < 0 or per_proxy_per_hour < 1 or buffer_percent < 0:
        raise BadInput("URLs, requests and buffer must not be negative, and a proxy must have requests")
    return -(-urls_per_hour * (100 + buffer_percent) // (per_proxy_per_hour * 100))
