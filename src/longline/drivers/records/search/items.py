"""Items on either engine."""

from collections.abc import Sequence

import orjson

from longline.drivers.records.database import Database, Row, Transaction, struct
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.search.item_versions import put
from longline.model.search.item import MAX_POSITION, ItemRow, NewItem, RunItem, SearchDocument, Wordiness

MAX_ID = 2**63 - 1


class ItemRecords:
    """Items."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, items: Sequence[NewItem], tasks: Sequence[int] = ()) -> int:
        async def work(tx: Transaction) -> int:
            ledger = RunCounters()
            written = await put(tx, items, ledger, tasks, counted=False)
            parsed = sorted({*tasks, *written.lists})
            await tx.batch("list_items", [(task_id, written.of(task_id)) for task_id in parsed])
            await ledger.write(tx, "upkeep")
            return written.changed

        return await self._database.transact(work)

    async def get(self, ids: Sequence[int]) -> list[ItemRow]:
        async def work(tx: Transaction) -> list[ItemRow]:
            found = {row["id"]: struct(row, ItemRow) for row in await tx.batch("items", [(i,) for i in set(ids)])}
            return [found[i] for i in ids if i in found]

        return await self._database.read(work)

    async def newest(self, kind: str | None, before: int | None, limit: int) -> list[ItemRow]:
        asked = {"before": before or MAX_ID, "limit": limit} | ({} if kind is None else {"kind": kind})
        name = "newest_items" if kind is None else "newest_items_of_kind"

        async def work(tx: Transaction) -> list[ItemRow]:
            return [struct(row, ItemRow) for row in await tx.all(name, **asked)]

        return await self._database.read(work)

    async def of_run(
        self, run_id: int, *, after: int = 0, until: int = MAX_POSITION, limit: int = 100
    ) -> list[RunItem]:
        async def work(tx: Transaction) -> list[RunItem]:
            found: list[RunItem] = []
            position = after
            # A report may have nothing but entries that count no more.
            while not found and position < until:
                reports = await tx.all("items_of_run", run_id=run_id, after=position, limit=limit)
                if not reports:
                    break
                rows = [row for row in _entries(reports, run_id) if position < row[3] <= until]
                rows, position = rows[:limit], rows[:limit][-1][3] if rows else until
                found = [struct(row, RunItem) for row in await tx.batch("listed_items", rows)]
            return sorted(found, key=lambda item: item.position)

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


def _entries(reports: Sequence[Row], run_id: int) -> list[tuple[int, int, int, int, str, int]]:
    """Return the entries of reports: item, version, task, position, the entry in the list of the page, and the run."""
    found = []
    for report in reports:
        entries = orjson.loads(report["entries"])
        for position, (item_id, version, task_id, *time) in enumerate(entries, report["position"] - len(entries) + 1):
            listed = f"[{','.join(map(str, (item_id, version, *time)))}]"
            found.append((item_id, version, task_id, position, listed, run_id))
    return found
