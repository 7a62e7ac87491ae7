"""Items on either engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from longline.drivers.records.database import Database, Transaction, struct
from longline.drivers.records.run_counters import RunCounters
from longline.drivers.records.search.index_write import index
from longline.model.search.item import MAX_POSITION, ItemRow, NewItem, RunItem, SearchDocument, Wordiness
from longline.model.search.page_counts import page_counts


async def put(tx: Transaction, items: Sequence[NewItem], ledger: RunCounters, *, counted: bool = True) -> int:
    """Write items inside a transaction, such as a report's; return how many were new or had changed.

    The ledger gives each item its position in its run. If `counted`, each document counts for its run, once however
    often the run brings it.
    """
    runs: dict[int, dict[bytes, NewItem]] = {}
    for item in items:
        # Each key once, and run by run: the same page may be a different item in another source.
        runs.setdefault(item.run_id, {})[item.key] = item
    return sum([await _put(tx, of_run, ledger, counted=counted) for _, of_run in sorted(runs.items())])


async def _put(tx: Transaction, items: Mapping[bytes, NewItem], ledger: RunCounters, *, counted: bool) -> int:
    # In one order: two statements never deadlock.
    written = await tx.batch("put_items", [_row(item) for _, item in sorted(items.items())])
    run_id = next(iter(items.values())).run_id
    if counted:
        ledger.count_items(run_id, (items[row["key"]] for row in written if not row["seen_again"]))
    fresh = {row["key"]: row["id"] for row in written if not row["seen_again"] or row["updated_at"] == tx.now}
    ledger.place_items(run_id, (fresh[key] for key in items if key in fresh))
    # In the order of ids, in which the indexer deletes them again.
    changed = sorted((row["id"], row["key"]) for row in written if row["updated_at"] == tx.now)
    ledger.page_counts.update(page_counts(items[key] for _, key in changed))
    indexed = [(i, *words) for i, key in changed if (words := items[key].words)]
    await index(tx, indexed)
    await tx.batch("want_index", [(i, items[key].hash) for i, key in changed if not items[key].words])
    return len(changed)


def _row(item: NewItem) -> tuple[Any, ...]:
    return msgspec.structs.astuple(item)[:-1]  # all but the words


class ItemRecords:
    """Items."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, items: Sequence[NewItem]) -> int:
        async def work(tx: Transaction) -> int:
            ledger = RunCounters()
            changed = await put(tx, items, ledger, counted=False)
            await ledger.write(tx, "upkeep")
            return changed

        return await self._database.transact(work)

    async def get(self, ids: Sequence[int]) -> list[ItemRow]:
        async def work(tx: Transaction) -> list[ItemRow]:
            found = {row["id"]: struct(row, ItemRow) for row in await tx.batch("items", [(i,) for i in set(ids)])}
            return [found[i] for i in ids if i in found]

        return await self._database.read(work)

    async def of_run(
        self, run_id: int, *, after: int = 0, until: int = MAX_POSITION, limit: int = 100
    ) -> list[RunItem]:
        async def work(tx: Transaction) -> list[RunItem]:
            rows = await tx.all("items_of_run", run_id=run_id, after=after, until=until, limit=limit)
            return [struct(row, RunItem) for row in rows]

        return await self._database.read(work)

    async def last_position(self, run_id: int) -> int:
        row = await self._database.read(lambda tx: tx.one("last_item", run_id=run_id))
        return int(row["last_item"]) if row else 0

    async def unindexed(self, limit: int) -> list[SearchDocument]:
        async def work(tx: Transaction) -> list[SearchDocument]:
            return [struct(row, SearchDocument) for row in await tx.all("unindexed_items", limit=limit)]

        return await self._database.read(work)

    async def wordiness(self, least: int) -> list[Wordiness]:
        async def work(tx: Transaction) -> list[Wordiness]:
            return [struct(row, Wordiness) for row in await tx.all("wordiness", least=least)]

        return await self._database.read(work)

    async def indexed(self, documents: Sequence[SearchDocument]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("indexed_items", sorted((d.id, d.hash) for d in documents))

        await self._database.transact(work)

    async def waiting(self) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_unindexed")
            return int(row["count"]) if row else 0

        return await self._database.read(work)
