"""Proxies: registered, assigned to sources, picked in turn, rated by the outcome of their requests."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput, LonglineError, NotFound
from longline.model.proxies.proxy import MappingRow, NewProxy, ProxyChange, ProxyFacts, ProxyFilter, ProxyRow, Scheme
from longline.model.proxies.proxy_health import success_rate
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.records.proxies import ProxyStore as Records

MAX_LIST_SIZE = 500
"""Largest number of rows in one list."""

_CHANGEABLE = frozenset(ProxyChange.__struct_fields__) - {"active", "secret"}


Announce = Callable[[int | None], Awaitable[None]]
"""An announcement that there are other proxies, or that the proxy of an id has changed."""


class DuplicateProxy(LonglineError):
    """Scheme, host, port and username belong to a registered proxy; `proxy_id` is the first at that host and port."""

    def __init__(self, host: str, port: int, proxy_id: int) -> None:
        super().__init__(f"there is already such a proxy at {host}:{port}")
        self.proxy_id = proxy_id


class SoleProxy(msgspec.Struct, frozen=True):
    """A proxy that must be the only one at its host and port, whatever its scheme and username."""

    scheme: Scheme
    host: str
    port: int
    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"SoleProxy({self.scheme}://{self.host}:{self.port})"


class ProxyView(ProxyFacts, frozen=True, kw_only=True):
    """A proxy as it may be shown: without its password, only with a flag that one is stored."""

    has_password: bool
    success_rate: float


class Proxies:
    """The registered proxies. Passwords are stored encrypted and never shown again.

    Changes are announced, so that the next request follows them.
    """

    def __init__(self, records: Records, vault: Vault, announce: Announce | None = None) -> None:
        self._records, self._vault, self._announce = records, vault, announce

    async def add(self, way: Proxy | SoleProxy | str, **facts: Any) -> ProxyView:
        """Register a proxy, given as such or as a URI, with its country, city, provider and limits."""
        if isinstance(way, SoleProxy):
            return await self._add(Proxy(*msgspec.structs.astuple(way)), facts, is_alone=True)
        return await self._add(Proxy.parse(way) if isinstance(way, str) else way, facts, is_alone=False)

    async def _add(self, proxy: Proxy, facts: dict[str, Any], *, is_alone: bool) -> ProxyView:
        active = {"active": facts.pop("active")} if "active" in facts else {}
        values = _checked(facts) | active
        host, secret = proxy.host, self._vault.lock(proxy.password)
        given = {"host": host, "port": proxy.port, "scheme": proxy.scheme, "username": proxy.username, "secret": secret}
        row = await self._records.add(_convert(values | given, NewProxy), is_alone=is_alone)
        if row is None:
            known = await self._records.find(ProxyFilter(host=host, port=proxy.port), limit=1)
            raise DuplicateProxy(host, proxy.port, known[0].id if known else 0)
        await self._tell()
        return _view(row)

    async def ensure(self, uris: Sequence[str]) -> None:
        """Register these proxies; another registered proxy at the same address gets the credentials instead."""
        wanted = {_identity(proxy): proxy for proxy in map(Proxy.parse, uris)}
        known = {_identity(row): row for row in await self._rows()}
        replaced = [row for identity, row in known.items() if identity not in wanted]
        for identity, proxy in wanted.items():
            at = (row for row in replaced if (row.host, row.port) == (proxy.host, proxy.port))
            row = known.get(identity) or next(at, None)
            if row is None:
                await self.add(proxy)
            elif _identity(row) != identity:
                replaced.remove(row)
                await self.update(row.id, scheme=proxy.scheme, username=proxy.username, password=proxy.password)
            elif self._vault.unlock(row.secret) != proxy.password:
                await self.update(row.id, password=proxy.password)

    async def _rows(self) -> list[ProxyRow]:
        found: list[ProxyRow] = []
        while rows := await self._records.find(limit=MAX_LIST_SIZE, offset=len(found)):
            found += rows
        return found

    async def get(self, proxy_id: int) -> ProxyView:
        """Return a proxy."""
        return _view(_there(await self._records.get(proxy_id), proxy_id))

    async def find(
        self, wanted: ProxyFilter | None = None, *, limit: int = 50, offset: int = 0, after: int = 0
    ) -> list[ProxyView]:
        """Return proxies in the order of their registration; `after` continues a list behind an id."""
        limit, offset = max(0, min(limit, MAX_LIST_SIZE)), max(0, offset)
        return [_view(row) for row in await self._records.find(wanted, limit=limit, offset=offset, after=after)]

    async def update(
        self, proxy_id: int, *, password: str | UnsetType = UNSET, active: bool | UnsetType = UNSET, **facts: Any
    ) -> ProxyView:
        """Change settings, the switch or credentials; an empty password deletes the stored one."""
        values = _checked(facts) | ({} if active is UNSET else {"active": active})
        if password is not UNSET:
            values["secret"] = self._vault.lock(password)
        return await self._change(proxy_id, _convert(values, ProxyChange))

    async def enable(self, proxy_id: int) -> ProxyView:
        """Enable a proxy and reset its consecutive failures."""
        return await self._change(proxy_id, ProxyChange(active=True))

    async def disable(self, proxy_id: int) -> ProxyView:
        """Disable a proxy until it is enabled again."""
        return await self._change(proxy_id, ProxyChange(active=False))

    async def remove(self, proxy_id: int) -> None:
        """Delete a proxy."""
        if not await self._records.remove(proxy_id):
            raise NotFound("proxy", proxy_id)
        await self._tell(proxy_id)

    async def assign(self, source_id: int, proxies: Sequence[int], priority: int = 5) -> int:
        """Assign proxies to a source, which then uses no others; return the number of new assignments."""
        if not proxies:
            raise BadInput("no proxy was named")
        assigned = await self._records.assign(source_id, proxies, priority)
        await self._tell()
        return assigned

    async def mappings(self, source_id: int) -> list[MappingRow]:
        """Return a source's proxies, best priority first, then the least recently used."""
        return await self._records.mappings(source_id)

    async def unassign(self, source_id: int, proxy_id: int) -> None:
        """Take a proxy from a source."""
        if not await self._records.unassign(source_id, proxy_id):
            raise NotFound("mapping", proxy_id, _no_mapping(source_id, proxy_id))
        await self._tell(proxy_id)

    async def switch(self, source_id: int, proxy_id: int, active: bool) -> MappingRow:
        """Enable or disable a proxy for a source; either way reset its consecutive failures."""
        row = await self._records.switch(source_id, proxy_id, active)
        if row is None:
            raise NotFound("mapping", proxy_id, _no_mapping(source_id, proxy_id))
        await self._tell(proxy_id)
        return row

    async def _change(self, proxy_id: int, change: ProxyChange) -> ProxyView:
        row = _there(await self._records.update(proxy_id, change), proxy_id)
        await self._tell(proxy_id)
        return _view(row)

    async def _tell(self, proxy_id: int | None = None) -> None:
        if self._announce is not None:
            await self._announce(proxy_id)


def _identity(proxy: ProxyRow | Proxy) -> tuple[str, str, int, str]:
    return proxy.scheme, proxy.host, proxy.port, proxy.username


def _no_mapping(source_id: int, proxy_id: int) -> str:
    return f"the source {source_id} has no proxy {proxy_id}"


def _there(row: ProxyRow | None, proxy_id: int) -> ProxyRow:
    if row is None:
        raise NotFound("proxy", proxy_id)
    return row


def _checked(facts: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(facts) - _CHANGEABLE)
    if unknown:
        raise BadInput(f"nothing of a proxy is called {', '.join(unknown)}")
    country = facts.get("country")
    if isinstance(country, str) and not (len(country) == 2 and country.isascii() and country.isalpha()):
        raise BadInput("a country is named by two letters")
    if isinstance(facts.get("max_per_hour"), int) and facts["max_per_hour"] < 0:
        raise BadInput("requests per hour cannot be negative")
    return facts | ({"country": country.upper()} if isinstance(country, str) else {})


def _convert(values: dict[str, Any], shape: Any) -> Any:
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise BadInput(f"not a proxy: {error}") from None


def _view(row: ProxyRow) -> ProxyView:
    shown = {name: getattr(row, name) for name in ProxyFacts.__struct_fields__}
    rate = success_rate(row.success_count, row.total_failures)
    return ProxyView(**shown, has_password=bool(row.secret), success_rate=rate)
