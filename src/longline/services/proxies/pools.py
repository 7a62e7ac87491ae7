"""Named pools of proxies, and which pools stand in for which."""

from collections.abc import Sequence

from longline.model.errors import BadInput, NotFound
from longline.model.proxies import Pool
from longline.ports.records.proxies import PoolStore as Records


class Pools:
    """What one may ask of pools."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def keep(self, name: str, proxies: Sequence[int], fallbacks: Sequence[str] = ()) -> Pool:
        """Make a pool, or change the one of that name; its fallbacks must be there, and lead to no ring."""
        if not name.strip():
            raise BadInput("a pool needs a name")
        pool = Pool(name, tuple(dict.fromkeys(proxies)), tuple(dict.fromkeys(fallbacks)))
        await self._records.keep([pool])
        return pool

    async def find(self) -> list[Pool]:
        """Every pool, by name."""
        return await self._records.find()

    async def drop(self, name: str) -> None:
        """Forget a pool, not its proxies."""
        if not await self._records.drop(name):
            raise NotFound(f"there is no proxy pool named {name!r}")
