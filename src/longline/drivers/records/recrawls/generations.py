"""The next generations of recrawls, and children whose parents ended: made by a loop, each once.

Two loops at once take turns at the locks of the hosts; the second finds that a head has a successor.
"""

from collections.abc import Sequence

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.frontier.admission import host_ids
from longline.drivers.records.recrawls.submission import add
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.model.recrawls.recrawl import NewRecrawl

SCHEDULER = "scheduler"
"""Author of recrawls that a loop makes."""

SUCCESSOR_COLUMNS = ("url", "href", "url_hash", "host", "run_id", "source_id", "priority", "max_attempts")
KEPT_COLUMNS = ("frequency", "again_after_failure", "batch_id", "depth", "webhook")
"""A successor has no parent: its time has come, whatever became of the parent of the first generation."""


async def succeed(tx: Transaction, limit: int) -> int:
    """Make the next generation of recrawls that are due, and move the times of their heads; return how many."""
    found = await tx.all("due_heads", limit=limit)
    hosts = {row["home_id"] or row["host_id"] for row in found} | {row["host_id"] for row in found}
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts)])
    heads = await tx.batch("heads_to_follow", sorted((row["id"],) for row in found))
    if not heads:
        return 0
    ids = await host_ids(tx, {row["host"] for row in heads})
    await add(tx, [_successor(row) for row in heads], ids, RunCounters(), "scheduler")
    await tx.batch("succeed_heads", [(row["id"],) for row in heads])
    return len(heads)


def _successor(row: Row) -> NewRecrawl:
    facts = {name: row[name] for name in (*SUCCESSOR_COLUMNS, *KEPT_COLUMNS)}
    return NewRecrawl(**facts, generation=row["generation"] + 1, recurring=True, created_by=SCHEDULER)


async def wake_children(tx: Transaction, task_ids: Sequence[int]) -> int:
    """Make children due that waited for their parent, each at its own time; return how many."""
    ids = [(task_id,) for task_id in sorted(task_ids)]
    places = await tx.batch("task_places", ids)
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted({row["host_id"] for row in places})])
    rows = await tx.batch("end_wait", ids)
    asleep = [row for row in rows if row["due"] == NEVER_DUE_MS and row["rest"] == "pending"]  # paused ones have no row
    await tx.batch("empty_queue_of_tasks", [_place(row, row["due"]) for row in asleep])
    due = {row["id"]: row["due_at"] if row["due_at"] > tx.now else 0 for row in rows if row["due"] == NEVER_DUE_MS}
    await tx.batch("reschedule_tasks", sorted(due.items()))
    await tx.batch("queue_tasks", [(*_place(row, due[row["id"]]), row["attempt"]) for row in asleep])
    await tx.batch("no_longer_wait", [(row["id"], max(row["due_at"], tx.now)) for row in rows])
    await tx.batch("wake_lines", _wakes(asleep, due, tx.now))
    return len(rows)


def _place(row: Row, due: int) -> tuple[int, ...]:
    return row["host_id"], due, row["priority"], row["run_id"], row["id"]


def _wakes(rows: Sequence[Row], due: dict[int, int], now: int) -> list[tuple[int, int]]:
    wake: dict[int, int] = {}
    for row in rows:
        moment = max(now, due[row["id"]])
        wake[row["host_id"]] = min(moment, wake.get(row["host_id"], moment))
    return sorted(wake.items())
