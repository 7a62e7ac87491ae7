"""The politeness key of a URL: its host by default, or its whole domain, or the IP address of its host."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec
from publicsuffixlist import PublicSuffixList

from longline.model.frontier.task import NewTask
from longline.model.urls.url import Url, parse
from longline.ports.http import FetchFailed
from longline.ports.records.frontier.frontier import HostSetting

By = Literal["host", "domain", "address"]

Resolve = Callable[[str], Awaitable[Sequence[object]]]
"""A resolver: returns the addresses of a host name, in order of preference, or raises `FetchFailed`."""


class PolitenessKey:
    """The rule for the name under which a URL's requests are counted, kept apart and limited."""

    def __init__(self, by: By = "host", resolve: Resolve | None = None) -> None:
        self._by, self._resolve = by, resolve
        self._suffixes = PublicSuffixList() if by == "domain" else None

    async def key(self, url: Url) -> str:
        """Return the key of a URL; the key of a host that does not resolve is the host."""
        if self._by == "host":
            return url.host
        if self._suffixes is not None:
            # A host that ends in a number is an address, and has no domain.
            named = not url.hostname.endswith("]") and not url.hostname.rpartition(".")[2].isdigit()
            return (self._suffixes.privatesuffix(url.hostname) if named else None) or url.hostname
        try:
            addresses = await self._resolve(url.hostname) if self._resolve else ()
        except FetchFailed:
            return url.host
        return str(addresses[0]) if addresses else url.host

    async def covers(self, host: str, url: str) -> bool:
        """Return whether the lease of a host is good for a URL as well."""
        return await self.key(parse(url)) == host

    async def place(
        self, tasks: Sequence[NewTask], hosts: Sequence[HostSetting]
    ) -> tuple[Sequence[NewTask], Sequence[HostSetting]]:
        """Return the same tasks and hosts under their politeness keys."""
        if self._by == "host":
            return tasks, hosts
        keys = {t.host: await self.key(parse(t.url)) for t in {t.host: t for t in tasks}.values()}
        settings = {keys.get(h.host, h.host): h._replace(host=keys.get(h.host, h.host)) for h in reversed(hosts)}
        return [msgspec.structs.replace(t, host=keys[t.host]) for t in tasks], list(settings.values())
