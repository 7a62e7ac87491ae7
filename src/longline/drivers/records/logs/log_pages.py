"""Pages of logs, on either engine: as fast at the end of a long log as at its beginning."""

from collections.abc import Sequence

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.logs import monthly_entries
from longline.drivers.records.row_structs import struct
from longline.model.logs.run_log import LEVELS, LogEntry, LogQuery, StoredLogPage


class LogPageRecords:
    """Pages of the entries in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, run_id: int, query: LogQuery, limit: int) -> StoredLogPage | None:
        async def work(tx: Transaction) -> StoredLogPage | None:
            head = await tx.one("log_page_head", run_id=run_id)
            if head is None:
                return None
            after = await _position(tx, head, run_id, query)
            rows = await _entries(tx, head, run_id, (after, limit), query.level)
            monthly = head["monthly_uid"] is not None
            return StoredLogPage(
                # Entries that were written after the head was read are not in its counts: the next page has them.
                [struct(row, LogEntry) for row in rows if row["number"] <= head["last"]],
                after=after,
                first=await monthly_entries.first_number(tx, head, run_id) if monthly else head["first"],
                last=head["last"],
                counts={level: head[level] for level in LEVELS},
                sealed=bool(head["sealed"]),
                key=head["key"],
                kept=head["kept"],
            )

        return await self._database.read(work)


async def _entries(tx: Transaction, head: Row, run_id: int, place: tuple[int, int], level: str | None) -> Sequence[Row]:
    """Return the first entries behind a number; `place` is the number, and how many entries are wanted."""
    after, limit = place
    if head["monthly_uid"] is not None:
        return await monthly_entries.entries_after(tx, head, run_id, after, limit, level)
    if level is None:
        return await tx.all("entries_after", run_id=run_id, after=after, limit=limit)
    return await tx.all("entries_of_level", run_id=run_id, after=after, limit=limit, level=level)


async def _position(tx: Transaction, head: Row, run_id: int, query: LogQuery) -> int:
    """Return the number behind which the page begins."""
    if query.since_us is None:
        return query.after
    if head["monthly_uid"] is not None:
        return max(query.after, await monthly_entries.last_number_until(tx, head, run_id, query.since_us))
    row = await tx.one("last_number_until", run_id=run_id, until=query.since_us)
    return max(query.after, row["number"] if row else 0)
