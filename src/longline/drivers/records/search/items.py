"""Items on either engine."""

from collections.abc import Iterable, Sequence

import orjson

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.search.item_versions import lock_pages, put
from longline.model.archive.page import PageRow
from longline.model.search.item import MAX_POSITION, ItemRow, ItemsPut, NewItem, RunItem, SearchDocument, Wordiness

MAX_ID = 2**63 - 1


class ItemRecords:
    """Items."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, items: Sequence[NewItem], pages: Sequence[PageRow] = ()) -> ItemsPut:
        async def work(tx: Transaction) -> ItemsPut:
            ledger, tasks = RunCounters(), {page.task_id for page in pages} | {item.task_id for item in items}
            await _lock_hosts(tx, tasks)
            # The report of such a page reads its former list, too: only one of the two may drop it.
            await lock_pages(tx, tasks)
            replaced = await _replaced(tx, pages)
            kept = [item for item in items if item.task_id not in replaced]
            written = await put(tx, kept, ledger, tasks - replaced, counted=False)
            await tx.batch("list_items", [(task_id, written.of(task_id)) for task_id in sorted(tasks - replaced)])
            await ledger.write(tx, "upkeep")
            return ItemsPut(written.changed, replaced)

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


async def _lock_hosts(tx: Transaction, tasks: Iterable[int]) -> None:
    """Lock the lines of the tasks' hosts before the tasks and their runs, which moves of tasks lock the other way."""
    places = await tx.batch("task_places", [(task_id,) for task_id in sorted(tasks)])
    hosts = {row["host_id"] for row in places} | {row["home_id"] for row in places if row["home_id"]}
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts)])


async def _replaced(tx: Transaction, pages: Sequence[PageRow]) -> frozenset[int]:
    """Return the tasks of pages that are not those of the rows any more; the tasks must be locked.

    Each page that is stored has a record of its own in the archive.
    """
    rows = await tx.batch("page_records", [(task_id,) for task_id in sorted({page.task_id for page in pages})])
    records = {row["task_id"]: (row["segment"], row["start"]) for row in rows}
    return frozenset(page.task_id for page in pages if records.get(page.task_id) != (page.segment, page.start))


def _entries(reports: Sequence[Row], run_id: int) -> list[tuple[int, int, int, int, str, int]]:
    """Return the entries of reports: item, version, task, position, the entry in the list of the page, and the run."""
    found = []
    for report in reports:
        entries = orjson.loads(report["entries"])
        for position, (item_id, version, task_id, *time) in enumerate(entries, report["position"] - len(entries) + 1):
            listed = f"[{','.join(map(str, (item_id, version, *time)))}]"
            found.append((item_id, version, task_id, position, listed, run_id))
    return found
