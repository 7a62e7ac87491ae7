"""Logs, on either engine. A writer locks the head row of its log until the commit."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.logs import monthly_entries
from longline.drivers.records.row_structs import struct
from longline.model.logs.log_months import month_of
from longline.model.logs.run_log import LEVELS, MAX_ENTRIES, DueLog, LogEntry, LoggedRun, LogPart, NewLogEntry

MAX_RUNS_SEARCHED = 100
"""Largest number of a schedule's runs to search for its newest entries."""

NumberedEntry = tuple[int, int, int, str, str, str, str | None]
HeadChange = tuple[int, ...]
"""Run, number and time of the last entry, time of the first, and the number of new entries of each level."""


class LogRecords:
    """Logs of runs; there is room for `max_entries` entries and a last one."""

    def __init__(self, database: Database, max_entries: int = MAX_ENTRIES - 1) -> None:
        self._database, self._max_entries = database, max_entries

    async def open(self, run_id: int, first: Sequence[NewLogEntry]) -> bool:
        async def work(tx: Transaction) -> bool:
            if not await tx.batch("begin_logs", [(run_id,)]):
                return False
            await _extend(tx, first, {}, self._max_entries)
            return True

        return await self._database.transact(work)

    async def append(self, entries: Sequence[NewLogEntry], dropped: Mapping[int, int]) -> set[int]:
        return await self._database.transact(lambda tx: append_entries(tx, entries, dropped, self._max_entries))

    async def read(self, run_id: int, after: int, limit: int) -> LogPart:
        async def work(tx: Transaction) -> LogPart:
            # The head first: entries that are read after the seal are complete.
            head = await tx.one("log_head", run_id=run_id)
            if head is not None and head["monthly_uid"] is not None:
                rows: Sequence[Row] = await monthly_entries.entries_after(tx, head, run_id, after, limit)
            else:
                rows = await tx.all("entries_after", run_id=run_id, after=after, limit=limit)
            entries = [struct(row, LogEntry) for row in rows]
            if head is None:
                return LogPart(entries, None, None)
            return LogPart(entries, bool(head["sealed"]), head["key"], head["name"], head["uid"])

        return await self._database.read(work)

    async def tail(self, name: str, uid: str | None, limit: int) -> list[LogEntry]:
        async def work(tx: Transaction) -> list[LogEntry]:
            newest: list[LogEntry] = []
            for run in await tx.all("logged_runs", name=name, uid=uid, number=None, limit=MAX_RUNS_SEARCHED, offset=0):
                rows = await _newest(tx, run, limit - len(newest))
                newest += [struct(row, LogEntry) for row in rows]
                if len(newest) >= limit:
                    break
            return newest[::-1]

        return await self._database.read(work)

    async def find(
        self, name: str, *, uid: str | None = None, number: int | None = None, limit: int = 50, offset: int = 0
    ) -> list[LoggedRun]:
        async def work(tx: Transaction) -> list[LoggedRun]:
            rows = await tx.all("logged_runs", name=name, uid=uid, number=number, limit=limit, offset=offset)
            return _runs(rows)

        return await self._database.read(work)

    async def following(self, name: str, run_id: int) -> LoggedRun | None:
        async def work(tx: Transaction) -> LoggedRun | None:
            row = await tx.one("following_log", name=name, run_id=run_id)
            return struct(row, LoggedRun) if row else None

        return await self._database.read(work)

    async def due(self, due: DueLog, limit: int = 100) -> list[LoggedRun]:
        async def work(tx: Transaction) -> list[LoggedRun]:
            return _runs(await tx.all("due_logs", limit=limit, **msgspec.structs.asdict(due)))

        return await self._database.read(work)

    async def beat(self, run: LoggedRun, entries: Sequence[NewLogEntry]) -> bool:
        seen = {"beat_at": run.beat_at, "reported_pages": run.reported_pages, "silent": int(run.silent)}

        async def work(tx: Transaction) -> bool:
            if await tx.one("beat_log", run_id=run.run_id, completed=run.completed, **seen) is None:
                return False
            await _extend(tx, entries, {}, self._max_entries)
            return True

        return await self._database.transact(work)

    async def seal(self, run_id: int, last: Sequence[NewLogEntry]) -> bool:
        async def work(tx: Transaction) -> bool:
            if await tx.one("seal_log", run_id=run_id) is None:
                return False
            await self._write(tx, run_id, last)
            return True

        return await self._database.transact(work)

    async def unarchived(self, limit: int = 100) -> list[LoggedRun]:
        async def work(tx: Transaction) -> list[LoggedRun]:
            return _runs(await tx.all("unkept_logs", limit=limit))

        return await self._database.read(work)

    async def archived(self, run_id: int, was: int, key: str, size: int, kept: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("archive_log", run_id=run_id, was=was, key=key, bytes=size, kept=kept) is not None

        return await self._database.transact(work)

    async def prune(self, entries_ms: int, logs_ms: int, *, unkept: bool = False, limit: int = 100) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            stale = await tx.all("full_logs", age=entries_ms, unkept=int(unkept), limit=limit)
            gone = [*await tx.all("old_logs", age=logs_ms, limit=limit), *await tx.all("orphaned_logs", limit=limit)]
            await tx.batch("drop_entries_of", sorted({(row["run_id"],) for row in (*stale, *gone)}))
            await tx.batch("empty_logs", sorted((row["run_id"],) for row in stale))
            await tx.batch("drop_logs", sorted({(row["run_id"],) for row in gone}))
            return sorted({row["key"] for row in gone if row["key"]})

        return await self._database.transact(work)

    async def _write(self, tx: Transaction, run_id: int, entries: Sequence[NewLogEntry]) -> None:
        """Write the last entries of a log, with room for at least one, and close the log."""
        [head] = await tx.batch("lock_logs", [(run_id,)])
        entries = entries[-max(1, self._max_entries + 1 - head["last"]) :]
        rows, change = _numbered(head, entries)
        await tx.batch("close_logs", [change])
        await (tx.batch("add_entries", rows) if head["monthly_uid"] is None else _add_monthly(tx, rows))


async def append_entries(
    tx: Transaction,
    entries: Sequence[NewLogEntry],
    dropped: Mapping[int, int] | None = None,
    max_entries: int = MAX_ENTRIES - 1,
) -> set[int]:
    """Write entries inside a transaction, as `LogRecords.append` does; the heads of logs are locked until its end."""
    lost = dropped or {}
    await tx.batch("begin_logs", [(run_id,) for run_id in sorted({entry.run_id for entry in entries} | lost.keys())])
    return await _extend(tx, entries, lost, max_entries)


async def _extend(
    tx: Transaction, entries: Sequence[NewLogEntry], dropped: Mapping[int, int], max_entries: int
) -> set[int]:
    """Number entries under the locks of their logs, write them, and return the runs that got any."""
    by_run: defaultdict[int, list[NewLogEntry]] = defaultdict(list)
    for entry in entries:
        by_run[entry.run_id].append(entry)
    lost = Counter(dict(dropped))
    heads = await tx.batch("lock_logs", [(run_id,) for run_id in sorted(by_run.keys() | lost.keys())])
    numbered: list[NumberedEntry] = []
    monthly: list[NumberedEntry] = []
    longer: list[tuple[int, ...]] = []
    for head in heads:
        run_id, mine = head["run_id"], by_run.get(head["run_id"], [])
        room = 0 if head["closed"] else max(0, max_entries - head["last"])
        lost[run_id] += len(mine) - len(mine[:room])
        if mine[:room]:
            rows, change = _numbered(head, mine[:room])
            (numbered if head["monthly_uid"] is None else monthly).extend(rows)
            longer.append((*change, lost.pop(run_id)))
    await tx.batch("extend_logs", longer)
    await tx.batch("drop_entries", sorted((run_id, count) for run_id, count in lost.items() if count))
    await tx.batch("add_entries", numbered)
    await _add_monthly(tx, monthly)
    return {run_id for run_id, *_ in longer}


def _numbered(head: Row, entries: Sequence[NewLogEntry]) -> tuple[list[NumberedEntry], HeadChange]:
    """Return entries with their numbers and rising times, and the change of the log's head."""
    number, at_us, rows = head["last"], head["last_at_us"], []
    for entry in entries:
        # Clocks have milliseconds, and those of several processes differ a little: no two entries have the same time.
        number, at_us = number + 1, max(1000 * entry.at, at_us + 1)
        rows.append((entry.run_id, number, at_us, entry.level, entry.topic, entry.message, entry.fields))
    levels = Counter(entry.level for entry in entries)
    first_us = rows[0][2] if rows else 0
    return rows, (head["run_id"], number, at_us, first_us, *(levels[level] for level in LEVELS))


async def _add_monthly(tx: Transaction, rows: Sequence[NumberedEntry]) -> None:
    await tx.batch("add_monthly_entries", [(month_of(row[2]), *row) for row in rows])


async def _newest(tx: Transaction, run: Row, limit: int) -> Sequence[Row]:
    if run["monthly_uid"] is not None:
        return await monthly_entries.newest_entries(tx, run, run["run_id"], limit)
    return await tx.all("newest_entries", run_id=run["run_id"], limit=limit)


def _runs(rows: Sequence[Row]) -> list[LoggedRun]:
    return [struct(row, LoggedRun) for row in rows]
