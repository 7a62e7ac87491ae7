"""Slow pages: the time after which a page is slow, the processes that such pages may have, and their hosts."""

import time

from longline.model.bounded_dict import BoundedDict

SLOW_PAGE_SECONDS = 2.0
"""Seconds of parsing after which a page counts as slow, and its host with it."""

MEMORY_SECONDS = 600.0
"""Seconds for which a host is remembered after a slow page, unless discarded before."""

MAX_HOSTS = 10_000
"""Largest number of remembered hosts."""


def max_slow_pages(processes: int) -> int:
    """Return how many slow pages may be parsed at once in so many processes."""
    return max(1, processes // 2)


class SlowHosts:
    """A set of hosts that expire after a while; the empty host name is never in the set."""

    def __init__(self) -> None:
        self._until: BoundedDict[str, float] = BoundedDict(MAX_HOSTS)

    def __contains__(self, host: str) -> bool:
        return self._until.get(host, 0.0) > time.monotonic()

    def add(self, host: str) -> None:
        """Remember a host from now on."""
        if host:
            self._until[host] = time.monotonic() + MEMORY_SECONDS

    def discard(self, host: str) -> None:
        """Forget a host."""
        self._until.pop(host, None)

    def judge(self, host: str, seconds: float) -> None:
        """Remember the host of a slow page; forget that of a page which is quick by far."""
        if seconds >= SLOW_PAGE_SECONDS:
            self.add(host)
        elif seconds < SLOW_PAGE_SECONDS / 4:
            self.discard(host)
