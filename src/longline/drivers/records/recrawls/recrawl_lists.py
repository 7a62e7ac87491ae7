"""One page of a list of recrawls, by nine filters and eight orders, and the total of the list.

A list is read in the order of an index that begins with the rest, or with the source and the rest. A filter with few
recrawls is read first and sorted then, because rows far from the beginning of an order would be searched for in all of
it. Authors and times of creation are never spread evenly over an order. The indexes by rest have them as last columns,
so that a walk passes rows of others without a look at the table. A walk past a million rows takes as long as a sort of
50,000; within a source, whose indexes lack these columns, more are sorted.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.recrawls.leased_recrawls import IN_HAND, id_list, in_hand
from longline.model.recrawls.recrawl_lists import MAX_COUNTED, Phase, RecrawlQuery

FILTERS = (
    "source_id",
    "priority_min",
    "priority_max",
    "created_after",
    "created_before",
    "recurring",
    "batch_id",
    "created_by",
)
MAX_SORTED, MAX_SORTED_IN_SOURCE = 50_000, 200_000
"""Largest numbers of recrawls of an author, or of a time, that are sorted for a page."""

EVEN_FILTERS = ("priority_min", "priority_max", "recurring", "batch_id", "asleep", "is_chosen", "has_left_out")
UNEVEN_FILTERS = ("created_after", "created_before", "created_by")
_RESTS = {"waiting": "pending", "ready": "pending", "in_hand": None, "parsing": None}
"""Rests of side rows by phase, where they differ; those that are leased are found by their ids."""


async def page(tx: Transaction, query: RecrawlQuery, limit: int, offset: int) -> tuple[list[int], int, bool]:
    """Return the ids of a page, the total, and whether the total is a lower bound only."""
    total, is_bounded = await _total(tx, query)
    if query.sort == "phase":
        ids = await _ids_by_phase(tx, query, limit, offset)
    else:
        asked = await _asked(tx, query, query.phase)
        read = _few if await _is_few(tx, asked, total, is_bounded=is_bounded) else _many
        ids = await read(tx, query, asked | {"limit": limit, "offset": offset})
    return ids, max(total, offset + len(ids)) if ids else total, is_bounded


async def sums(tx: Transaction, source_id: int | None) -> dict[str, int]:
    """Return the kept numbers of recrawls at each rest, of one source or of all."""
    return {row["rest"]: row["count"] for row in await tx.all("recrawl_sums", source_id=source_id) if row["count"]}


async def _total(tx: Transaction, query: RecrawlQuery) -> tuple[int, bool]:
    if query.is_counted:
        kept = await sums(tx, query.source_id)
        return sum(kept.values()) if query.phase is None else kept.get(query.phase, 0), False
    row = await tx.one("count_recrawls_found", most=MAX_COUNTED + 1, **await _asked(tx, query, query.phase))
    total = row["total"] if row else 0
    return min(total, MAX_COUNTED), total > MAX_COUNTED


async def _is_few(tx: Transaction, asked: dict[str, Any], total: int, *, is_bounded: bool) -> bool:
    """Return whether a filter is read first and sorted then."""
    if total <= MAX_COUNTED and not is_bounded:
        return True
    if all(asked[name] is None for name in UNEVEN_FILTERS):
        return False
    # Columns of one index at a time: the count reads no rows.
    alone = asked | dict.fromkeys(EVEN_FILTERS)
    most = MAX_SORTED if asked["source_id"] is None else MAX_SORTED_IN_SOURCE
    row = await tx.one("count_recrawls_found", most=most + 1, **alone)
    return row is not None and row["total"] <= most


async def _few(tx: Transaction, query: RecrawlQuery, asked: dict[str, Any]) -> list[int]:
    order = {"sort": query.sort, "way": -1 if query.falling else 1}
    return [row["id"] for row in await tx.all("few_recrawls", most=MAX_SORTED_IN_SOURCE, **order, **asked)]


async def _many(tx: Transaction, query: RecrawlQuery, asked: dict[str, Any]) -> list[int]:
    name = f"recrawls_by_{query.sort}_{'down' if query.falling else 'up'}"
    return [row["id"] for row in await tx.all(name, reach=asked["limit"] + asked["offset"], **asked)]


async def _ids_by_phase(tx: Transaction, query: RecrawlQuery, limit: int, offset: int) -> list[int]:
    """Return recrawls one phase after the other; a phase before the page is only counted."""
    found: list[int] = []
    by_id = msgspec.structs.replace(query, sort="id")
    for phase in _phases(query):
        asked = await _asked(tx, query, phase)
        ids = await _many(tx, by_id, asked | {"limit": limit - len(found), "offset": offset})
        found += ids
        if len(found) == limit:
            break
        if offset and not ids:
            row = await tx.one("count_recrawls_found", most=offset, **asked)
            offset -= row["total"] if row else 0
        else:
            offset = 0
    return found


def _phases(query: RecrawlQuery) -> Sequence[Phase]:
    if query.phase is not None:
        return [query.phase]
    return query.order[::-1] if query.falling else query.order


async def _asked(tx: Transaction, query: RecrawlQuery, phase: Phase | None) -> dict[str, Any]:
    """Return the parameters of a list of one phase, or of all."""
    asked: dict[str, Any] = {name: getattr(query, name) for name in FILTERS}
    asked |= {"rest": _RESTS.get(phase, phase) if phase else None, "asleep": None}
    asked |= {"is_chosen": None, "has_left_out": None}
    asked |= {name: id_list(tx.engine, []) for name in ("chosen", "left_out", "held")}
    if phase in ("waiting", "ready"):
        held = [row["run_id"] for row in await tx.all("held_runs")]
        asked |= {"asleep": phase == "waiting", "held": id_list(tx.engine, held)}
    if phase in IN_HAND:
        asked |= {"is_chosen": True, "chosen": id_list(tx.engine, await in_hand(tx, phase))}
    elif phase in ("waiting", "ready", "downloaded", "queued_parse"):
        left_out = await in_hand(tx, "in_hand" if phase in ("waiting", "ready") else "parsing")
        asked |= {"has_left_out": bool(left_out) or None, "left_out": id_list(tx.engine, left_out)}
    return asked
