"""Recrawls leased by workers and parsers: their side rows rest, and the queue has the marks."""

from collections.abc import Mapping

import orjson

from longline.drivers.records.database import Transaction
from longline.drivers.records.named_queries import Engine

IN_HAND = {"in_hand": "recrawls_in_hand", "parsing": "recrawls_in_parsers"}
"""Phases under a lease, and the query that finds them."""


def id_list(engine: Engine, ids: list[int]) -> object:
    """Return ids as a parameter of a statement."""
    return ids if engine == "pg" else orjson.dumps(ids).decode()


async def in_hand(tx: Transaction, phase: str) -> list[int]:
    """Return the recrawls in this phase."""
    return [row["id"] for row in await tx.all(IN_HAND[phase])]


async def in_hands(
    tx: Transaction,
    counts: Mapping[str, int],
    *,
    since: int = 0,
    source_id: int | None = None,
    batch_id: int | None = None,
) -> dict[str, int]:
    """Return counts by phase with those that are leased apart, for recrawls of these filters.

    A side row rests while its task is leased: it is due, or sleeps if its source was disabled meanwhile.
    """
    found = dict(counts)
    for phase in IN_HAND:
        ids = id_list(tx.engine, await in_hand(tx, phase))
        asked = {"chosen": ids, "since": since, "source_id": source_id, "batch_id": batch_id}
        for row in await tx.all("moved_recrawls", **asked):
            moved = min(row["count"], found.get(row["phase"], 0))
            found[phase], found[row["phase"]] = found.get(phase, 0) + moved, found.get(row["phase"], 0) - moved
    return {phase: count for phase, count in found.items() if count}
