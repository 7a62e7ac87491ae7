"""Hosts with pages that take long to parse, remembered for a while."""

import time

from longline.model.bounded_dict import BoundedDict

MEMORY_SECONDS = 600.0
"""Seconds for which a host is remembered after a slow page, unless discarded before."""

MAX_HOSTS = 10_000
"""Largest number of remembered hosts."""


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
