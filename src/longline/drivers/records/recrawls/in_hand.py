"""Recrawls in the hands of workers and parsers: their side rows rest, and the queue has the marks."""

from collections.abc import Mapping

import orjson

from longline.drivers.records.database import Transaction
from longline.drivers.records.named_queries import Engine

IN_HAND = {"in_hand": ("recrawls_in_hand", "ready"), "parsing": ("recrawls_in_parsers", "queued_parse")}
"""Phases in hand: the query that finds them, and the phase of their side rows."""


def id_list(engine: Engine, ids: list[int]) -> object:
    """Return ids as a parameter of a statement."""
    return ids if engine == "pg" else orjson.dumps(ids).decode()


async def in_hand(tx: Transaction, phase: str) -> list[int]:
    """Return the recrawls in this phase."""
    return [row["id"] for row in await tx.all(IN_HAND[phase][0])]


async def in_hands(
    tx: Transaction,
    counts: Mapping[str, int],
    *,
    since: int = 0,
    source_id: int | None = None,
    batch_id: int | None = None,
) -> dict[str, int]:
    """Return counts by phase with those in hand apart, for recrawls of these filters."""
    found = dict(counts)
    for phase, (_, rest) in IN_HAND.items():
        ids = id_list(tx.engine, await in_hand(tx, phase))
        row = await tx.one("moved_recrawls", chosen=ids, since=since, source_id=source_id, batch_id=batch_id)
        moved = min(row["count"] if row else 0, found.get(rest, 0))
        found[phase], found[rest] = found.get(phase, 0) + moved, found.get(rest, 0) - moved
    return {phase: count for phase, count in found.items() if count}
