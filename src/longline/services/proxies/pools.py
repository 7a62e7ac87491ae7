"""Named pools of proxies, and their fallback pools."""

from collections.abc import Sequence

from longline.model.errors import BadInput, NotFound
from longline.model.proxies.pool_fallbacks import tiers
from longline.model.proxies.proxy import Pool
from longline.ports.records.proxies import PoolStore as Records


class Pools:
    """The named pools of proxies."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def put(self, name: str, proxies: Sequence[int], fallbacks: Sequence[str] = ()) -> Pool:
        """Make or replace a pool; its fallbacks must exist and form no cycle."""
        if not name.strip():
            raise BadInput("a pool needs a name")
        pool = Pool(name, tuple(dict.fromkeys(proxies)), tuple(dict.fromkeys(fallbacks)))
        await self._records.put([pool])
        return pool

    async def find(self) -> list[Pool]:
        """Return all pools, ordered by name."""
        return await self._records.find()

    async def failing(self) -> list[str]:
        """Return the pools that have no working proxy, their fallbacks included."""
        pools, working = await self._records.find(), await self._records.working()
        return [pool.name for pool in pools if not any(working.get(one.name) for one in tiers(pool.name, pools))]

    async def drop(self, name: str) -> None:
        """Delete a pool, not its proxies."""
        if not await self._records.drop(name):
            raise NotFound("proxy pool", name)
