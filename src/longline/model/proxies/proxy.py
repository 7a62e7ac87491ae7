"""Proxies, pools and mappings to sources, as stored, asked for and shown."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from longline.model.errors import BadInput, LonglineError, NotFound

Scheme = Literal["http", "https", "socks5"]
Strategy = Literal["lru", "health", "random3", "geo"]
Off = Literal["auto", "manual"]

SKIP_AFTER_FAILURES = 5
"""Failures in a row at which a source, the global pool and named pools skip a proxy."""

UNREGISTERED = 0
"""Number of a proxy that one plan names and that has no row."""


class NoProxies(LonglineError):
    """A pool without a usable proxy: all failed, are off, or used up their hour."""


class MissingProxies(NotFound):
    """Proxies that are not registered."""

    def __init__(self, ids: list[int]) -> None:
        super().__init__("proxy", ", ".join(map(str, ids)))
        self.ids = ids


class NewProxy(msgspec.Struct, frozen=True):
    """A proxy to be registered. `secret` is the encrypted password, `monthly_cost` is in hundredths.

    One that is not `active` is disabled by a person from the beginning.
    """

    host: str
    port: int
    scheme: Scheme = "http"
    username: str = ""
    secret: str = ""
    country: str | None = None
    city: str | None = None
    provider: str | None = None
    monthly_cost: int | None = None
    max_per_hour: int = 1000
    priority: int = 5
    active: bool = True

    def __repr__(self) -> str:
        return f"NewProxy({self.scheme}://{self.host}:{self.port})"


class ProxyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A stored proxy without its secret. `failure_count` is of failures in a row, `total_failures` of all."""

    id: int
    scheme: Scheme
    host: str
    port: int
    username: str
    active: bool
    disabled_reason: Off | None
    failure_count: int
    success_count: int
    total_failures: int
    last_used_at: int | None
    last_success_at: int | None
    last_failure_at: int | None
    avg_ms: int | None
    country: str | None
    city: str | None
    provider: str | None
    monthly_cost: int | None
    max_per_hour: int
    priority: int
    created_at: int
    updated_at: int


class ProxyRow(ProxyFacts, frozen=True, kw_only=True):
    """A proxy as stored, with its encrypted password; `turn` is its place in the rotation."""

    secret: str
    probe_at: int | None
    turn: int

    def __repr__(self) -> str:
        return f"ProxyRow({self.id}, {self.scheme}://{self.host}:{self.port})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("id", self.id), ("host", self.host), ("port", self.port)]


class ProxyFilter(msgspec.Struct, frozen=True):
    """The filter of a list of proxies; None means any."""

    active: bool | None = None
    country: str | None = None
    provider: str | None = None
    host: str | None = None
    port: int | None = None


class MappingRow(msgspec.Struct, frozen=True):
    """A proxy as one source knows it: sites treat the same proxy differently."""

    id: int
    source_id: int
    proxy_id: int
    active: bool
    priority: int
    last_used_at: int | None
    success_count: int
    failure_count: int
    total_failures: int
    avg_ms: int | None
    turn: int
    created_at: int
    updated_at: int


class MappedProxy(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping of a source with the facts of its proxy; the figures are those of the mapping."""

    id: int
    source_id: int
    active: bool
    priority: int
    last_used_at: int | None
    success_count: int
    failure_count: int
    total_failures: int
    avg_ms: int | None
    created_at: int
    updated_at: int
    proxy_id: int
    scheme: Scheme
    host: str
    port: int
    username: str
    proxy_active: bool
    disabled_reason: Off | None
    country: str | None
    city: str | None
    provider: str | None


class ProxySums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the proxies of a source; `failing` ones are skipped, `avg_ms` is the mean of their means."""

    source_id: int
    proxies: int
    active: int
    failing: int
    successes: int
    failures: int
    avg_ms: int | None


class ProxyChange(msgspec.Struct, frozen=True):
    """A person's change of a proxy; fields that are not set stay."""

    active: bool | UnsetType = UNSET
    scheme: Scheme | UnsetType = UNSET
    username: str | UnsetType = UNSET
    secret: str | UnsetType = UNSET
    country: str | UnsetType | None = UNSET
    city: str | UnsetType | None = UNSET
    provider: str | UnsetType | None = UNSET
    monthly_cost: int | UnsetType | None = UNSET
    max_per_hour: int | UnsetType = UNSET
    priority: int | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"ProxyChange({', '.join(_set_fields(self))})"


class Pool(msgspec.Struct, frozen=True):
    """Proxies under a name, and the pools to turn to when all of them fail."""

    name: str
    proxies: tuple[int, ...] = ()
    fallbacks: tuple[str, ...] = ()


class ProxyRequest(msgspec.Struct, frozen=True):
    """A request for `wanted` turns from a source's own pool, or a named pool, or else from all proxies.

    `fallbacks` are further pools for a pool without a usable proxy. `exclude` names proxies that failed this page. With
    `shared` the proxies of other sources are among all proxies.
    """

    source_id: int | None = None
    pool: str | None = None
    fallbacks: tuple[str, ...] = ()
    country: str | None = None
    exclude: frozenset[int] = frozenset()
    strategy: Strategy = "lru"
    wanted: int = 1
    shared: bool = False

    def __post_init__(self) -> None:
        if self.wanted < 1:
            raise BadInput("at least one proxy must be wanted")


class Picked(msgspec.Struct, frozen=True):
    """The proxies that are next, in order; fewer than wanted when limits or failures leave no more.

    `size` counts the pool's proxies, usable or not: 0 means that there is no pool, unless the request has `named` one.
    """

    proxies: tuple[ProxyRow, ...] = ()
    size: int = 0
    mapped: bool = False
    named: bool = False

    @property
    def exhausted(self) -> bool:
        """Whether the request may not go out: a named pool without proxies is no leave to connect directly."""
        return not self.proxies and (self.size > 0 or self.named)


class ProxyUse(msgspec.Struct, frozen=True):
    """The result of one request through a proxy; `ok` is whether the request showed that the proxy works.

    A request that shows neither that the proxy works nor that it does not is not recorded.
    """

    proxy_id: int
    source_id: int | None
    ok: bool
    ms: int
    at: int


def _set_fields(change: ProxyChange) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}
