"""Proxies: ways out, the sources and pools they serve, and how they behave."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.proxies import MappingRow, NewProxy, Picked, Pool, ProxyChange, ProxyRequest, ProxyRow, ProxyUse
from longline.ports.http import Proxy


class ProxyStore(Protocol):
    """Remembers proxies and whose turn it is. Each call is one transaction. Secrets are stored as they are given."""

    async def add(self, proxy: NewProxy) -> ProxyRow | None:
        """Register a proxy; None when host and port are taken."""
        ...

    async def get(self, proxy_id: int) -> ProxyRow | None:
        """One proxy."""
        ...

    async def find(
        self,
        *,
        active: bool | None = None,
        country: str | None = None,
        provider: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ProxyRow]:
        """Proxies in the order they were registered."""
        ...

    async def update(self, proxy_id: int, change: ProxyChange) -> ProxyRow | None:
        """Change what a person may change, on and off included; the proxy as it is now."""
        ...

    async def remove(self, proxy_id: int) -> bool:
        """Forget a proxy, its mappings and its places in pools; False when there was none."""
        ...

    async def assign(self, source_id: int, proxies: Sequence[int], priority: int = 5) -> int:
        """Give proxies to a source, all or, when one is `NotFound`, none; how many were new to it."""
        ...

    async def unassign(self, source_id: int, proxy_id: int) -> bool:
        """Take a proxy from a source; False when it was not the source's."""
        ...

    async def switch(self, source_id: int, proxy_id: int, active: bool) -> MappingRow | None:
        """Let a source use its proxy, or not; either way its failures in a row are forgotten."""
        ...

    async def mappings(self, source_id: int) -> list[MappingRow]:
        """A source's proxies, best priority first, then the least recently used."""
        ...

    async def pick(self, ask: ProxyRequest) -> Picked:
        """Whose turn it is, stamped and counted before anybody else can ask."""
        ...

    async def account(self, used: Sequence[ProxyUse]) -> None:
        """Write how requests went, in their order; those through proxies that are gone are passed over."""
        ...

    async def due_probes(self, limit: int = 10) -> list[ProxyRow]:
        """Proxies that failures put aside and that may be tried once now; each is handed out once in its time."""
        ...


class PoolStore(Protocol):
    """Remembers named pools. No change is kept that leaves a pool with an unknown fallback, or a ring of them."""

    async def keep(self, pools: Sequence[Pool]) -> None:
        """Write pools, all or none, in place of those of the same names. Raises `NotFound` for unknown proxies."""
        ...

    async def find(self) -> list[Pool]:
        """Every pool, by name."""
        ...

    async def drop(self, name: str) -> bool:
        """Forget a pool, not its proxies; False when there was none."""
        ...


class PickedProxy(msgspec.Struct, frozen=True):
    """A proxy whose turn it is. `source_id` is set where its figures for that source count too."""

    proxy_id: int
    proxy: Proxy
    source_id: int | None = None


class ProxySource(Protocol):
    """Hands out proxies ready to be used, in turn, to whoever fetches, and hears how they did."""

    async def pick(self, ask: ProxyRequest) -> list[PickedProxy]:
        """Ways out, in turn; none where there is no pool. Raises `NoProxies` when there is one and nobody can go."""
        ...

    async def account(self, used: Sequence[ProxyUse]) -> None:
        """Write how requests went, in their order."""
        ...

    async def probes(self, limit: int = 10) -> list[PickedProxy]:
        """Proxies to be tried once now, to see whether they recovered; account for each as for any request."""
        ...
