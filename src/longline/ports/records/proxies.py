"""Proxies, the sources and pools they serve, and their success and failure counts."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.proxies.proxy import (
    MappedProxy,
    MappingRow,
    NewProxy,
    Picked,
    Pool,
    ProxyChange,
    ProxyFilter,
    ProxyRequest,
    ProxyRow,
    ProxySums,
    ProxyUse,
)
from longline.model.proxies.proxy_uri import Proxy
from longline.model.proxies.source_alerts import (
    Alert,
    AlertChange,
    AlertRow,
    DisabledSource,
    SlowProxy,
    SourcePool,
    StalledRun,
    StuckRun,
)


class ProxyStore(Protocol):
    """Proxies and their rotation. Each call is one transaction. Secrets are stored as given."""

    async def add(self, proxy: NewProxy, *, is_alone: bool = False) -> ProxyRow | None:
        """Register a proxy; return None when there is one with the same scheme, host, port and username.

        With `is_alone`, a proxy with the same host and port is enough.
        """
        ...

    async def get(self, proxy_id: int) -> ProxyRow | None:
        """Return one proxy."""
        ...

    async def find(
        self, wanted: ProxyFilter | None = None, *, limit: int = 50, offset: int = 0, after: int = 0
    ) -> list[ProxyRow]:
        """Return proxies in the order of registration; `after` continues a list behind an id."""
        ...

    async def update(self, proxy_id: int, change: ProxyChange) -> ProxyRow | None:
        """Change the fields that a person may change, on and off included; return the changed proxy.

        Raises `Conflict` for the scheme, host, port and username of another proxy.
        """
        ...

    async def remove(self, proxy_id: int) -> bool:
        """Delete a proxy, its mappings and its places in pools; return False for an unknown proxy."""
        ...

    async def assign(self, source_id: int, proxies: Sequence[int], priority: int = 5) -> int:
        """Assign proxies to a source, all or, when one is `NotFound`, none; return the number of new ones."""
        ...

    async def unassign(self, source_id: int, proxy_id: int) -> bool:
        """Take a proxy from a source; return False when the proxy was not assigned to the source."""
        ...

    async def switch(self, source_id: int, proxy_id: int, active: bool) -> MappingRow | None:
        """Switch a source's proxy on or off; either way reset its consecutive failures."""
        ...

    async def mappings(self, source_id: int) -> list[MappingRow]:
        """Return a source's proxies, best priority first, then the least recently used."""
        ...

    async def pick(self, ask: ProxyRequest) -> Picked:
        """Return the next proxy in turn, stamped and counted in the same transaction."""
        ...

    async def account(self, used: Sequence[ProxyUse]) -> None:
        """Write the outcomes of requests, in their order; skip outcomes of deleted proxies."""
        ...

    async def due_probes(self, limit: int = 10) -> list[ProxyRow]:
        """Return proxies that are due for a probe after failures; each is returned once per probe interval."""
        ...


class ProxyFigureStore(Protocol):
    """Figures of proxies for lists and overviews, each in one query."""

    async def count(self, wanted: ProxyFilter | None = None) -> int:
        """Return the number of proxies."""
        ...

    async def mapped(self, source_id: int, *, active: bool | None = None) -> list[MappedProxy]:
        """Return a source's mappings with their proxies, best priority first, then the least recently used."""
        ...

    async def mapped_pairs(self, pairs: Sequence[tuple[int, int]]) -> list[MappedProxy]:
        """Return the mappings of pairs of a source and a proxy, by source."""
        ...

    async def sums(self, sources: Sequence[int]) -> dict[int, ProxySums]:
        """Return the sums of the mappings of each source that has any."""
        ...

    async def sources_of(self, proxies: Sequence[int]) -> dict[int, list[int]]:
        """Return the sources that each proxy is assigned to, if any."""
        ...


class AlertStore(Protocol):
    """The facts that raise alerts, and the alerts that hold."""

    async def pools(self) -> list[SourcePool]:
        """Return the pools of all sources with recrawls in sums, by name; also of sources without proxies."""
        ...

    async def slow(self, above_ms: int) -> list[SlowProxy]:
        """Return active mappings with a longer mean response time."""
        ...

    async def disabled(self) -> list[DisabledSource]:
        """Return the sources of catalogues that were disabled after failures, by name; at most 1,000."""

    async def stuck(self, started_before: int) -> list[StuckRun]:
        """Return the running runs of catalogues that started before a time, oldest first; at most 1,000."""

    async def stalled(self, before: int) -> list[StalledRun]:
        """Return runs under way with open tasks of which none has moved since then; at most 1,000."""

    async def raised(self) -> list[AlertRow]:
        """Return the alerts that held at the last looks, the oldest first."""

    async def cleared(self, limit: int, before: tuple[int, int] | None = None) -> list[AlertRow]:
        """Return the alerts that ended last, the newest first; `before` continues a list behind (end, id)."""

    async def settle(self, found: Sequence[Alert], scope: str) -> AlertChange:
        """Raise the alerts of a scope that hold, and clear those that held; return the difference."""
        ...


class PoolStore(Protocol):
    """Named pools. A change that leaves a pool with an unknown fallback, or a cycle of fallbacks, is rejected."""

    async def put(self, pools: Sequence[Pool]) -> None:
        """Write pools, all or none, replacing pools of the same names. Raises `NotFound` for unknown proxies."""
        ...

    async def find(self) -> list[Pool]:
        """Return every pool, by name."""
        ...

    async def working(self) -> dict[str, int]:
        """Return the number of proxies of each pool that are not skipped after failures."""
        ...

    async def drop(self, name: str) -> bool:
        """Delete a pool, not its proxies; return False for an unknown pool."""
        ...


class PickedProxy(msgspec.Struct, frozen=True):
    """A picked proxy. `source_id` is set where its figures for that source count too.

    `pool_size` counts the proxies of the source, or of the named pool and its fallbacks; 0 where all proxies serve.
    `pool` is the pool that the run names.
    """

    proxy_id: int
    proxy: Proxy
    source_id: int | None = None
    pool_size: int = 0
    pool: str = ""


class ProxySource(Protocol):
    """Proxies for fetching, in turn, and the outcomes of their requests."""

    async def pick(self, ask: ProxyRequest) -> list[PickedProxy]:
        """Return proxies, in turn; none without a pool. Raises `NoProxies` when the pool has no usable proxy."""
        ...

    def unlock(self, own: str) -> PickedProxy:
        """Return the proxy of one plan alone, from its locked URI; it is not registered and has the number 0."""
        ...

    async def account(self, used: Sequence[ProxyUse]) -> None:
        """Write the outcomes of requests, in their order."""
        ...

    async def probes(self, limit: int = 10) -> list[PickedProxy]:
        """Return proxies to probe now for recovery; account for each probe as for any request."""
        ...
