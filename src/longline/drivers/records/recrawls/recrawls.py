"""Recrawls: submitted, read, listed by filters and orders, and counted."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.recrawls import generations
from longline.drivers.records.recrawls.leased_recrawls import in_hands
from longline.drivers.records.recrawls.recrawl_lists import page, sums
from longline.drivers.records.recrawls.submission import submit
from longline.drivers.records.row_structs import Table
from longline.model.callers.audit import State
from longline.model.recrawls.recrawl import NewRecrawl, RecrawlSubmission
from longline.model.recrawls.recrawl_lists import (
    QueueDepths,
    RecrawlPage,
    RecrawlQuery,
    RecrawlRow,
    RecrawlStats,
    phase_of,
)
from longline.ports.records.frontier.frontier import HostSetting

T = TypeVar("T")


class RecrawlRecords(Table):
    """Recrawls, their lists and their figures."""

    async def submit(self, recrawls: Sequence[NewRecrawl], hosts: Sequence[HostSetting]) -> RecrawlSubmission:
        def audited_state(made: RecrawlSubmission) -> State | None:
            return {"tasks": sorted(made.ids.values())} if made.ids else None

        def only(made: RecrawlSubmission) -> int | None:
            return next(iter(made.ids.values())) if len(recrawls) == len(made.ids) == 1 else None

        return await audited_many(
            self._database, "task", audited_state, lambda tx: submit(tx, recrawls, hosts), only=only
        )

    async def get(self, task_id: int) -> RecrawlRow | None:
        async def work(tx: Transaction) -> RecrawlRow | None:
            return next(iter(await _shown(tx, [task_id])), None)

        return await self._database.read(work)

    async def find(self, query: RecrawlQuery, *, limit: int, offset: int = 0) -> RecrawlPage:
        async def work(tx: Transaction) -> RecrawlPage:
            ids, total, is_bounded = await page(tx, query, limit, offset)
            return RecrawlPage(tuple(await _shown(tx, ids)), total, is_bounded)

        return await self._planned(work)

    async def failed(self, *, source_id: int | None, failed_after: int | None, limit: int) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            rows = await tx.all("failed_recrawls", source_id=source_id, failed_after=failed_after, limit=limit)
            return [row["id"] for row in rows]

        return await self._planned(work)

    async def counts(self, source_id: int | None = None) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return await sums(tx, source_id)

        return await self._database.read(work)

    async def counts_of(self, sources: Sequence[int]) -> dict[int, dict[str, int]]:
        async def work(tx: Transaction) -> dict[int, dict[str, int]]:
            found: dict[int, dict[str, int]] = {source_id: {} for source_id in sources}
            for row in await tx.batch("recrawl_sums_of_sources", [(source_id,) for source_id in sorted(set(sources))]):
                found[row["source_id"]][row["rest"]] = row["count"]
            return found

        return await self._database.read(work)

    async def stats(self, since: int, source_id: int | None = None) -> RecrawlStats:
        async def work(tx: Transaction) -> RecrawlStats:
            rows = await tx.all("recrawl_stats", since=since, source_id=source_id)
            counts = {row["phase"]: row["count"] for row in rows}
            return _stats(rows, await in_hands(tx, counts, since=since, source_id=source_id))

        return await self._planned(work)

    async def depths(self, urgent: int) -> QueueDepths:
        async def work(tx: Transaction) -> QueueDepths:
            row = await tx.one("queue_depths", urgent=urgent)
            fetched, parsed = await tx.all("recrawls_in_hand"), await tx.all("recrawls_in_parsers")
            kept = await sums(tx, None)
            ready, pressing = (row["count"], row["urgent"]) if row else (0, 0)
            held = sum(one["priority"] <= urgent for one in fetched)
            # Tasks in hand whose source was disabled meanwhile are not among those that are due.
            due = [one["priority"] <= urgent for one in fetched if not one["is_asleep"]]
            offered = kept.get("downloaded", 0) + kept.get("queued_parse", 0) - len(parsed)
            waiting = (pressing - sum(due), ready - pressing - due.count(False), offered)
            # On PostgreSQL each statement sees another moment: more may be in hand than were due before.
            urgent_ready, rest, offered = (max(0, count) for count in waiting)
            return QueueDepths(urgent_ready, held, rest, len(fetched) - held, offered, len(parsed))

        return await self._database.read(work)

    async def sources_with_old_robots(self, before: int, after: int, limit: int) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            rows = await tx.all("sources_with_old_robots", before=before, after=after, limit=limit)
            return [row["id"] for row in rows]

        return await self._database.read(work)

    async def _planned(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Read with plans for the given filters; on PostgreSQL that needs a transaction."""
        if self._database.engine == "lite":
            return await self._database.read(work)

        async def planned(tx: Transaction) -> T:
            await tx.all("plan_each")
            return await work(tx)

        return await self._database.transact(planned)


class GenerationRecords(Table):
    """The next generations of recrawls, and children whose parents ended."""

    async def succeed(self, limit: int) -> int:
        return await self._database.transact(lambda tx: generations.succeed(tx, limit))

    async def calls(self, limit: int) -> list[tuple[int, str]]:
        async def work(tx: Transaction) -> list[tuple[int, str]]:
            return [(row["parent_id"], row["rest"]) for row in await tx.all("find_calls", limit=limit)]

        return await self._database.read(work)

    async def children(self, parent_id: int, limit: int) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            return [row["id"] for row in await tx.all("waiting_children", parent_id=parent_id, limit=limit)]

        return await self._database.read(work)

    async def wake(self, task_ids: Sequence[int]) -> int:
        return await self._database.transact(lambda tx: generations.wake_children(tx, task_ids))

    async def answered(self, parent_id: int) -> None:
        await self._write("delete_call", parent_id=parent_id)


async def _shown(tx: Transaction, ids: Sequence[int]) -> list[RecrawlRow]:
    rows = {row["id"]: row for row in await tx.batch("shown_recrawls", [(task_id,) for task_id in ids])}
    return [_row(rows[task_id], tx.now) for task_id in ids if task_id in rows]


def _row(row: Row, now: int) -> RecrawlRow:
    names = (name for name in RecrawlRow.__struct_fields__ if name != "phase")
    facts: dict[str, Any] = {name: row[name] for name in names}
    said = {"due_at": row["due_at"], "waits": bool(row["waits"]), "is_held": bool(row["is_held"])}
    facts["phase"] = phase_of(row["state"], **said, now_ms=now)
    return msgspec.convert(facts, RecrawlRow, strict=False)


def _stats(rows: Sequence[Row], by_phase: dict[str, int]) -> RecrawlStats:
    pages = sum(row["pages"] for row in rows)
    return RecrawlStats(
        by_phase,
        sum(row["fetch_ms"] for row in rows) / pages if pages else None,
        sum(row["later"] for row in rows),
        {row["phase"]: row["ms"] / row["timed"] / 1000 for row in rows if row["timed"]},
    )
