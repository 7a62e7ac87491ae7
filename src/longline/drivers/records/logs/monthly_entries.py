"""Entries that are kept by month, of one run. The head of a log knows its first and last month; no other is read."""

from typing import Any

from longline.drivers.records.database import Row, Transaction
from longline.model.logs.log_months import month_of, months_between


def _months(head: Row) -> list[int]:
    return list(months_between(head["first_at_us"], head["last_at_us"])) if head["last_at_us"] else []


async def entries_after(
    tx: Transaction, head: Row, run_id: int, after: int, limit: int, level: str | None = None
) -> list[Row]:
    """Return entries from behind a number, oldest first; with a level, those of the level."""
    asked: dict[str, Any] = {"level": level} if level else {}
    query = "monthly_entries_of_level" if level else "monthly_entries_after"
    rows: list[Row] = []
    for month in _months(head):
        if len(rows) >= limit:
            break
        rows += await tx.all(query, month=month, run_id=run_id, after=after, limit=limit - len(rows), **asked)
    return rows


async def newest_entries(tx: Transaction, head: Row, run_id: int, limit: int) -> list[Row]:
    """Return the newest entries, the newest first."""
    rows: list[Row] = []
    for month in reversed(_months(head)):
        if len(rows) >= limit:
            break
        rows += await tx.all("newest_monthly_entries", month=month, run_id=run_id, limit=limit - len(rows))
    return rows


async def last_number_until(tx: Transaction, head: Row, run_id: int, until: int) -> int:
    """Return the number of the last entry until a time, 0 where there is none."""
    for month in reversed([month for month in _months(head) if month <= month_of(max(0, until))]):
        row = await tx.one("last_monthly_number_until", month=month, run_id=run_id, until=until)
        if row is not None:
            return int(row["number"])
    return 0


async def first_number(tx: Transaction, head: Row, run_id: int) -> int | None:
    """Return the smallest number of an entry in the database."""
    rows = await entries_after(tx, head, run_id, 0, 1)
    return rows[0]["number"] if rows else None
