"""Pages of logs, on either engine: as fast at the end of a long log as at its beginning."""

from longline.drivers.records.database import Database, Transaction, struct
from longline.model.logs import LEVELS, LogEntry, LogQuery, StoredLogPage


class LogPageRecords:
    """Pages of the entries in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, run_id: int, query: LogQuery, limit: int) -> StoredLogPage | None:
        async def work(tx: Transaction) -> StoredLogPage | None:
            # The head first: entries that are read after it are at least as new.
            head = await tx.one("log_page_head", run_id=run_id)
            if head is None:
                return None
            after = await _position(tx, run_id, query)
            asked = {"run_id": run_id, "after": after, "limit": limit}
            level = {"level": query.level} if query.level else {}
            rows = await tx.all("entries_of_level" if level else "entries_after", **asked, **level)
            return StoredLogPage(
                [struct(row, LogEntry) for row in rows],
                after=after,
                first=head["first"],
                last=head["last"],
                counts={level: head[level] for level in LEVELS},
                sealed=bool(head["sealed"]),
                key=head["key"],
                kept=head["kept"],
            )

        return await self._database.read(work)


async def _position(tx: Transaction, run_id: int, query: LogQuery) -> int:
    """Return the number behind which the page begins."""
    if query.since_us is None:
        return query.after
    row = await tx.one("last_number_until", run_id=run_id, until=query.since_us)
    return max(query.after, row["number"] if row else 0)
