"""One page of a list, with how many there are in all."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.database import Row, Transaction


async def counted(
    tx: Transaction, name: str, asked: dict[str, Any], limit: int, offset: int
) -> tuple[Sequence[Row], int]:
    """Rows of a query that says in each of them, as `total`, how many there would be without a limit."""
    rows = await tx.all(name, limit=limit, offset=offset, **asked)
    # Behind the last row there is none to bring the count.
    first = rows or (await tx.all(name, limit=1, offset=0, **asked) if offset else [])
    return rows, first[0]["total"] if first else 0
