"""Pages of lists: their beginning, and one page with the total number of rows."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.database import Row, Transaction

AFTER_EVERY_ROW = (1 << 62) - 1
"""Id, or time, from which a list begins with its newest row."""


async def counted(
    tx: Transaction, name: str, asked: dict[str, Any], limit: int, offset: int
) -> tuple[Sequence[Row], int]:
    """Return the rows of a query, and the number of rows without a limit, which each row has as `total`."""
    rows = await tx.all(name, limit=limit, offset=offset, **asked)
    # A page behind the last row has no row with the total.
    first = rows or (await tx.all(name, limit=1, offset=0, **asked) if offset else [])
    return rows, first[0]["total"] if first else 0
