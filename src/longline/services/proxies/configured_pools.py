"""Pools of proxies from the settings: registered at the start, beside those that people register."""

from collections.abc import Mapping, Sequence

import msgspec

from longline.model.proxies.proxy import Pool
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.records.proxies import PoolStore
from longline.services.proxies.proxies import MAX_LIST_SIZE, DuplicateProxy, Proxies, ProxyView

UNLIMITED = 2**31 - 1
"""Requests in an hour of a proxy of the settings, which name no limit."""


class ConfiguredPool(msgspec.Struct, frozen=True):
    """A pool of the settings: the URIs of its proxies, and the names of its fallbacks."""

    name: str
    uris: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()


class ConfiguredPools:
    """The pools of the settings."""

    def __init__(self, proxies: Proxies, pools: PoolStore) -> None:
        self._proxies, self._pools = proxies, pools

    async def register(self, wanted: Sequence[ConfiguredPool]) -> None:
        """Register proxies and pools; pools of the same names are replaced, all others stay."""
        if not wanted:
            return
        ids = await self._ids([uri for pool in wanted for uri in pool.uris])
        pools = [Pool(one.name, tuple(dict.fromkeys(ids[uri] for uri in one.uris)), one.fallbacks) for one in wanted]
        await self._pools.put(pools)

    async def _ids(self, uris: Sequence[str]) -> Mapping[str, int]:
        """Return the id of each proxy; an unknown one is registered, a known one gets the password."""
        known = await self._known_ids()
        ids: dict[str, int] = {}
        for uri in dict.fromkeys(uris):
            proxy = Proxy.parse(uri)
            place = proxy.scheme, proxy.host, proxy.port, proxy.username
            if place not in known:
                try:
                    known[place] = (await self._proxies.add(proxy, max_per_hour=UNLIMITED)).id
                except DuplicateProxy:  # another process that starts with the same settings was faster
                    known = await self._known_ids()
            else:
                await self._proxies.update(known[place], password=proxy.password)
            ids[uri] = known[place]
        return ids

    async def _known_ids(self) -> dict[tuple[str, str, int, str], int]:
        return {_identity(one): one.id for one in await self._known()}

    async def _known(self) -> list[ProxyView]:
        found: list[ProxyView] = []
        while batch := await self._proxies.find(limit=MAX_LIST_SIZE, offset=len(found)):
            found += batch
        return found


def _identity(proxy: ProxyView) -> tuple[str, str, int, str]:
    return proxy.scheme, proxy.host, proxy.port, proxy.username
