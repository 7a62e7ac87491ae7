"""The registered proxies as routes for requests, with their passwords decrypted."""

from collections.abc import Sequence

from longline.engine.stored_secrets import Vault
from longline.model.proxies.proxy import UNREGISTERED, NoProxies, ProxyRequest, ProxyRow, ProxyUse
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.records.proxies import PickedProxy, ProxyStore


class StoredProxies:
    """Stored proxies as egress routes, with passwords decrypted at the last moment."""

    def __init__(self, records: ProxyStore, vault: Vault) -> None:
        self._records, self._vault = records, vault

    async def pick(self, ask: ProxyRequest) -> list[PickedProxy]:
        """Pick proxies in turn, none where none is registered; raise `NoProxies` when a pool has no usable proxy."""
        picked = await self._records.pick(ask)
        if picked.exhausted:
            raise NoProxies(f"none of {picked.size} proxies can be used now")
        source_id = ask.source_id if picked.mapped else None
        size = picked.size if picked.mapped or picked.named else 0
        return [self._decrypted(row, source_id, size) for row in picked.proxies]

    def unlock(self, own: str) -> PickedProxy:
        """Return the proxy of one plan alone, from its locked URI."""
        return PickedProxy(UNREGISTERED, Proxy.parse(self._vault.unlock(own)), pool_size=1)

    async def account(self, used: Sequence[ProxyUse]) -> None:
        """Record the outcomes of requests, in their order."""
        await self._records.account(used)

    async def probes(self, limit: int = 10) -> list[PickedProxy]:
        """Return failed proxies that are due for one trial request."""
        return [self._decrypted(row, None) for row in await self._records.due_probes(limit)]

    def _decrypted(self, row: ProxyRow, source_id: int | None, pool_size: int = 0) -> PickedProxy:
        password = self._vault.unlock(row.secret)
        proxy = Proxy(row.scheme, row.host, row.port, row.username, password)
        return PickedProxy(row.id, proxy, source_id, pool_size)
