"""Admission of URLs: once per (scope, host, key), within the budgets of run and source."""

from collections import Counter
from collections.abc import Mapping, Sequence

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.frontier.standing_list import enter
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters
from longline.model.errors import NotFound
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import FETCH, NewTask, RefusedUrl
from longline.model.states import RUN_ENDED, TaskState
from longline.ports.records.frontier.frontier import Admitted

BUDGET = "budget"
"""Reason of URLs beyond the budget of their run."""

Placed = tuple[int, NewTask]
"""A task with the id of its host."""


async def host_ids(tx: Transaction, hosts: set[str]) -> dict[str, int]:
    """Return the ids of hosts, which must exist."""
    ids = {row["host"]: row["id"] for row in await tx.batch("host_ids", [(h,) for h in sorted(hosts)])}
    if missing := hosts - ids.keys():
        raise NotFound("host", min(missing))
    return ids


async def place(tx: Transaction, tasks: Sequence[NewTask]) -> list[Placed]:
    """Return tasks with their host ids, each key once, in the order in which rows are inserted."""
    ids = await host_ids(tx, {t.host for t in tasks})
    once = {(t.scope, ids[t.host], t.key): (ids[t.host], t) for t in reversed(tasks)}
    return [once[key] for key in sorted(once)]


async def admit(
    tx: Transaction, tasks: Sequence[NewTask], placed: list[Placed], ledger: RunCounters
) -> tuple[Admitted, dict[int, int]]:
    """Insert new tasks; return the counts, and the earliest due time of new work for each host.

    The lines of these hosts must be locked before.
    """
    room = await _room(tx, {t.run_id for _, t in placed}, ledger.runs)
    wanted, refused = await _within_budget(tx, placed, room)
    over = Counter((r.task.run_id, r.reason) for r in refused)
    away = await _away(tx, wanted)
    rows = [_row(h, t) for h, t in wanted if (t.scope, h, t.key) not in away]
    fresh = await tx.batch("admit_tasks", rows, state=TaskState.PENDING.value)
    if tx.engine == "lite":
        await _enqueue(tx, fresh)
    if standing := {t.run_id for _, t in wanted if t.scope == SCOPE}:
        await enter(tx, ledger, [r["id"] for r in fresh if r["run_id"] in standing])
    await tx.batch("spend_sources", room.by_source(fresh))
    ledger.count_moves((MovedTasks(r["id"], r["run_id"], None, TaskState.PENDING, "") for r in fresh), listed=False)
    ledger.count_apart(over, stored=(r for r in refused if r.reason == BUDGET and r.task.keep_refused))
    ledger.count_apart(_known(tasks, fresh, over))
    wake: dict[int, int] = {}
    for row in fresh:
        if row["executor"] == FETCH:
            due = max(tx.now, row["due"])
            wake[row["host_id"]] = min(due, wake.get(row["host_id"], due))
    new, beyond = len(fresh), sum(over.values())
    return Admitted(new, len(tasks) - new - beyond, beyond), wake


def _row(host_id: int, t: NewTask) -> tuple[object, ...]:
    """Return the values of a task's row."""
    place = (t.executor, t.priority, t.due, t.depth, t.parent_id, t.url, t.hops)
    return (t.scope, host_id, t.key, t.run_id, *place, t.max_attempts, t.credentials)


async def _away(tx: Transaction, wanted: Sequence[Placed]) -> set[tuple[int, int, bytes]]:
    """Return the single tasks among these that are known at home, but were redirected to another host."""
    rows = await tx.batch("away_tasks", [(t.scope, h, t.key) for h, t in wanted if t.single])
    return {(row["scope"], row["host_id"], bytes(row["key"])) for row in rows}


def _known(
    tasks: Sequence[NewTask], fresh: Sequence[Row], over: Counter[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    asked = Counter(t.run_id for t in tasks)
    for row in fresh:
        asked[row["run_id"]] -= 1
    for (run_id, _), count in over.items():
        asked[run_id] -= count
    return {(run_id, "known"): count for run_id, count in asked.items() if count > 0}


async def _enqueue(tx: Transaction, fresh: Sequence[Row]) -> None:
    queued = [(h, due, p, run, i, 0) for i, h, run, executor, due, p in fresh if executor == FETCH]
    offered = [(i, executor, h, due, p, 0) for i, h, _, executor, due, p in fresh if executor != FETCH]
    await tx.batch("queue_tasks", queued)
    await tx.batch("offer_tasks", offered)


class _BudgetRoom:
    """The number of URLs that the runs of a batch, and their sources, may still admit."""

    def __init__(self, runs: Mapping[int, Row], sources: Sequence[Row]) -> None:
        self._runs = runs
        self._of_run = {i: r["budget"] - r["admitted"] for i, r in runs.items() if r["budget"] is not None}
        self._of_source = {s["id"]: s["budget"] - s["admitted"] for s in sources if s["budget"] is not None}

    @property
    def bounded(self) -> set[int]:
        """Return the runs that have a budget themselves or through their source."""
        return self._of_run.keys() | {i for i, r in self._runs.items() if r["source_id"] in self._of_source}

    def refusal(self, run_id: int, known: bool) -> str | None:
        """Return the reason to refuse a URL, or None after charging a new URL to the budgets."""
        run = self._runs[run_id]
        if run["state"] in RUN_ENDED:
            return "run_ended"
        if known:
            return None
        bounds = ((BUDGET, self._of_run, run_id), ("source_budget", self._of_source, run["source_id"]))
        for reason, left, key in bounds:
            if left.get(key, 1) <= 0:
                return reason
        for _, left, key in bounds:
            if key in left:
                left[key] -= 1
        return None

    def by_source(self, fresh: Sequence[Row]) -> list[tuple[int, int]]:
        """Return the number of new tasks to charge to each source with a budget."""
        sources = (self._runs[row["run_id"]]["source_id"] for row in fresh) if self._of_source else ()
        return sorted(Counter(source for source in sources if source in self._of_source).items())


async def _room(tx: Transaction, run_ids: set[int], counted: set[int]) -> _BudgetRoom:
    """Read the runs that admit URLs, and lock them when there is a budget, which must not be spent twice.

    Runs that this transaction will count in are locked along with them, and sources after runs: one order in all
    transactions, so no deadlock.
    """
    runs = {r["id"]: r for r in await tx.batch("run_limits", [(i,) for i in sorted(run_ids)])}
    if missing := run_ids - runs.keys():
        raise NotFound("run", min(missing))
    sources = sorted({r["source_id"] for r in runs.values() if r["source_budget"] is not None})
    if sources or any(r["budget"] is not None for r in runs.values()):
        runs = {r["id"]: r for r in await tx.batch("lock_runs", [(i,) for i in sorted(run_ids | counted)])}
    return _BudgetRoom(runs, await tx.batch("lock_sources", [(i,) for i in sources]))


async def _within_budget(
    tx: Transaction, placed: list[Placed], room: _BudgetRoom
) -> tuple[list[Placed], list[RefusedUrl]]:
    """Leave out tasks that a run may not admit: the run ended, or a budget is used up."""
    over: list[RefusedUrl] = []
    bounded = room.bounded
    known = await _known_keys(tx, [p for p in placed if p[1].run_id in bounded])
    kept: list[Placed] = []
    # The remainder of a budget goes to shallow and urgent tasks first.
    for host_id, task in sorted(placed, key=lambda p: (p[1].depth, p[1].priority)) if bounded else placed:
        if reason := room.refusal(task.run_id, (task.scope, host_id, task.key) in known):
            over.append(RefusedUrl(reason, task))
        else:
            kept.append((host_id, task))
    return sorted(kept, key=lambda p: (p[1].scope, p[0], p[1].key)) if bounded else kept, over


async def _known_keys(tx: Transaction, placed: list[Placed]) -> set[tuple[int, int, bytes]]:
    rows = await tx.batch("known_tasks", [(t.scope, h, t.key) for h, t in placed])
    return {(row["scope"], row["host_id"], bytes(row["key"])) for row in rows}
