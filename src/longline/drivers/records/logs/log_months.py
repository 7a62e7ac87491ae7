"""Months of logs on either engine: on PostgreSQL each is a partition, on SQLite a range of the key."""

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table
from longline.model.logs.log_months import LogMonth, MonthLine, following_month, month_name, months_between, start_us
from longline.model.logs.run_log import LEVELS

BATCH_SIZE = 2000
"""Largest number of rows that are deleted in one transaction on SQLite, which has one writer."""


class LogMonthRecords(Table):
    """Months of logs."""

    async def make(self, month: int) -> bool:
        async def work(tx: Transaction) -> bool:
            if await tx.one("note_log_month", month=month) is None:
                return False
            if tx.engine == "pg":
                names = {"name": month_name(month), "month": month, "following": following_month(month)}
                await tx.all("make_log_partition", **names)
            return True

        return await self._database.transact(work)

    async def find(self) -> list[LogMonth]:
        return await self._all("kept_log_months", LogMonth)

    async def unmade(self) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            made = {row["month"] for row in await tx.all("kept_log_months")}
            found, month = [], 0
            while (row := await tx.one("next_entry_month", after=month)) is not None and row["month"] is not None:
                month = row["month"]
                found.append(month)
            return [each for each in found if each not in made]

        return await self._database.read(work)

    async def lines(self, month: int, after: tuple[int, int], limit: int) -> list[MonthLine]:
        place = {"run_id": after[0], "number": after[1], "limit": limit}
        return await self._all("entries_of_month", MonthLine, month=month, **place)

    async def archived(self, month: int, lines: int, objects: int) -> bool:
        async def work(tx: Transaction) -> bool:
            counted = await tx.one("count_entries_of_month", month=month)
            if counted is None or counted["count"] != lines:
                return False
            return await tx.one("note_archived_month", month=month, lines=lines, objects=objects) is not None

        return await self._database.transact(work)

    async def drop(self, month: int) -> bool:
        row = await self._one("log_month", LogMonth, month=month)
        if row is None or row.archived_at is None or row.dropped_at is not None:
            return False
        while await self._database.transact(lambda tx: _drop_piece(tx, month)):
            pass
        return True


async def _drop_piece(tx: Transaction, month: int) -> bool:
    """Delete a part of what a month leaves behind; the month itself comes last. Return whether there is more."""
    before_us = start_us(following_month(month))
    if await tx.all("delete_logs_of_month", before_us=before_us, limit=BATCH_SIZE):
        return True
    if tx.engine == "lite" and await tx.all("delete_entries_of_month", month=month, limit=BATCH_SIZE):
        return True
    row = await tx.one("lock_log_month", month=month)
    if row is None or row["dropped_at"] is not None:
        return False  # another process was first
    if tx.engine == "pg":
        await tx.all("drop_log_partition", name=month_name(month))
    await tx.one("note_dropped_month", month=month)
    await _shorten(tx, before_us)
    return False


async def _shorten(tx: Transaction, before_us: int) -> None:
    """Let the logs that go on after a month begin with the next one."""
    after = 0
    while rows := await tx.all("logs_across_month", before_us=before_us, after=after, limit=BATCH_SIZE):
        for row in rows:
            counts = await _level_counts(tx, row, before_us)
            await tx.all("begin_log_later", run_id=row["run_id"], first_at_us=before_us, **counts)
        after = rows[-1]["run_id"]


async def _level_counts(tx: Transaction, log: Row, since_us: int) -> dict[str, int]:
    counts = dict.fromkeys(LEVELS, 0)
    for month in months_between(since_us, log["last_at_us"]):
        for row in await tx.all("monthly_level_counts", month=month, run_id=log["run_id"]):
            counts[row["level"]] += row["count"]
    return counts
