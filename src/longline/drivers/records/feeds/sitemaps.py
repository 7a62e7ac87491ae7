"""Due times and progress of reading sources' sitemaps, on either engine."""

import msgspec

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.errors import NotFound
from longline.model.feeds.sitemap import SitemapRow
from longline.ports.records.feeds import SitemapRule


class SitemapRecords:
    """Due times and progress of reading sitemaps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def change(self, source_id: int, rule: SitemapRule) -> SitemapRow | None:
        async def work(tx: Transaction) -> SitemapRow | None:
            rows = await _all(tx, "lock_sitemaps", source_id=source_id)
            if not rows:
                raise NotFound("source", source_id)
            changed = rule(rows[0], tx.now)
            if changed is not None:
                await tx.all("write_sitemaps", **msgspec.structs.asdict(changed))
            return changed

        return await self._database.transact(work)

    async def claim(self, limit: int, hold_ms: int) -> list[SitemapRow]:
        return await self._database.transact(lambda tx: _all(tx, "claim_sitemaps", limit=limit, hold=hold_ms))

    async def answered(self, limit: int) -> list[SitemapRow]:
        return await self._database.read(lambda tx: _all(tx, "answered_sitemaps", limit=limit))


async def _all(tx: Transaction, query: str, /, **params: object) -> list[SitemapRow]:
    return [struct(row, SitemapRow) for row in await tx.all(query, **params)]
