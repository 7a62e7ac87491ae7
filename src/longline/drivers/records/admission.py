"""Taking URLs in: once per (scope, host, key), within each run's budget."""

from collections import Counter
from collections.abc import Sequence

from longline.drivers.records.database import Row, Tx
from longline.drivers.records.ledger import Ledger, Moved
from longline.model.errors import NotFound
from longline.model.states import RUN_ENDED, TaskState
from longline.model.task import FETCH, NewTask
from longline.ports.records.frontier import Admitted

Placed = tuple[int, NewTask]
"""A task with the id of its host."""


async def host_ids(tx: Tx, hosts: set[str]) -> dict[str, int]:
    """Ids of hosts, which must exist."""
    ids = {row["host"]: row["id"] for row in await tx.batch("host_ids", [(h,) for h in sorted(hosts)])}
    if missing := hosts - ids.keys():
        raise NotFound(f"no such host: {min(missing)}")
    return ids


async def place(tx: Tx, tasks: Sequence[NewTask]) -> list[Placed]:
    """Find the hosts of tasks; in the one order in which rows are inserted, and each key once."""
    ids = await host_ids(tx, {t.host for t in tasks})
    once = {(t.scope, ids[t.host], t.key): (ids[t.host], t) for t in reversed(tasks)}
    return [once[key] for key in sorted(once)]


async def admit(
    tx: Tx, tasks: Sequence[NewTask], placed: list[Placed], ledger: Ledger
) -> tuple[Admitted, dict[int, int]]:
    """Insert what is new; the counts, and the hosts that got work with the earliest time it is due.

    The lines of these hosts must be locked by now.
    """
    wanted, over = await _within_budget(tx, placed, ledger.runs)
    rows = [
        (t.scope, h, t.key, t.run_id, t.executor, t.priority, t.due, t.depth, t.parent_id, t.url, t.hops)
        for h, t in wanted
    ]
    fresh = await tx.batch("admit_tasks", rows, state=TaskState.PENDING.value)
    if tx.engine == "lite":
        await _enqueue(tx, fresh)
    ledger.moved((Moved(r["id"], r["run_id"], None, TaskState.PENDING, "") for r in fresh), listed=False)
    ledger.refused(over)
    ledger.refused(_known(tasks, fresh, over))
    wake: dict[int, int] = {}
    for row in fresh:
        if row["executor"] == FETCH:
            due = max(tx.now, row["due"])
            wake[row["host_id"]] = min(due, wake.get(row["host_id"], due))
    new, beyond = len(fresh), sum(over.values())
    return Admitted(new, len(tasks) - new - beyond, beyond), wake


def _known(
    tasks: Sequence[NewTask], fresh: Sequence[Row], over: Counter[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    asked = Counter(t.run_id for t in tasks)
    for row in fresh:
        asked[row["run_id"]] -= 1
    for (run_id, _), count in over.items():
        asked[run_id] -= count
    return {(run_id, "known"): count for run_id, count in asked.items() if count > 0}


async def _enqueue(tx: Tx, fresh: Sequence[Row]) -> None:
    rows = [tuple(row[c] for c in ("host_id", "due", "priority", "run_id", "id", "executor")) for row in fresh]
    queued = [(h, due, p, run, i, 0) for h, due, p, run, i, executor in rows if executor == FETCH]
    offered = [(i, executor, h, due, p, 0) for h, due, p, _, i, executor in rows if executor != FETCH]
    await tx.batch("queue_tasks", queued)
    await tx.batch("offer_tasks", offered)


async def _limits(tx: Tx, run_ids: set[int], counted: set[int]) -> dict[int, Row]:
    """The runs that take URLs in. They are locked when one has a budget: its rest must not be spent twice.

    Those that this transaction will count in are locked along with them: one order for all, so no deadlock.
    """
    runs = {r["id"]: r for r in await tx.batch("run_limits", [(i,) for i in sorted(run_ids)])}
    if missing := run_ids - runs.keys():
        raise NotFound(f"no such run: {min(missing)}")
    if any(r["budget"] is not None for r in runs.values()):
        runs = {r["id"]: r for r in await tx.batch("lock_runs", [(i,) for i in sorted(run_ids | counted)])}
    return runs


async def _within_budget(
    tx: Tx, placed: list[Placed], counted: set[int]
) -> tuple[list[Placed], Counter[tuple[int, str]]]:
    """Leave out what a run may not take any more: it ended, or its budget is used up."""
    over: Counter[tuple[int, str]] = Counter()
    runs = await _limits(tx, {t.run_id for _, t in placed}, counted)
    left = {i: r["budget"] - r["admitted"] for i, r in runs.items() if r["budget"] is not None}
    known = await _known_keys(tx, [p for p in placed if p[1].run_id in left])
    kept: list[Placed] = []
    # What is spared goes to the shallow and the urgent first.
    for host_id, task in sorted(placed, key=lambda p: (p[1].depth, p[1].priority)) if left else placed:
        reason = _refusal(runs[task.run_id]["state"], left.get(task.run_id), (task.scope, host_id, task.key) in known)
        if reason:
            over[task.run_id, reason] += 1
        else:
            if task.run_id in left and (task.scope, host_id, task.key) not in known:
                left[task.run_id] -= 1
            kept.append((host_id, task))
    return sorted(kept, key=lambda p: (p[1].scope, p[0], p[1].key)) if left else kept, over


def _refusal(state: str, left: int | None, known: bool) -> str | None:
    if state in RUN_ENDED:
        return "run_ended"
    return "budget" if left is not None and left <= 0 and not known else None


async def _known_keys(tx: Tx, placed: list[Placed]) -> set[tuple[int, int, bytes]]:
    rows = await tx.batch("known_tasks", [(t.scope, h, t.key) for h, t in placed])
    return {(row["scope"], row["host_id"], bytes(row["key"])) for row in rows}
