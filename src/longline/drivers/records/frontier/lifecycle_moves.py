"""Single guarded moves of a schedule, a run or a task, on either engine."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Database, Row, Transaction, TryAgain
from longline.drivers.records.frontier import recrawl_list
from longline.drivers.records.frontier.standing_list import follow
from longline.drivers.records.frontier.task_moves import (
    QUEUE_KEY,
    count_moves,
    judge,
    lock_tasks,
    move_tasks,
    take_out,
)
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.end_effects import add_effects_of_runs
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters, lock_runs
from longline.model.errors import IllegalMove
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.recrawls.side_row import MoveKind
from longline.model.states import RUN_ENDED, Noun, RunState, legal, move
from longline.ports.records.frontier.frontier import Change, Current, TaskChange

STOPPED = frozenset({RunState.CANCELLED, RunState.FAILED})


class MoveRecords:
    """The states of schedules, runs and tasks, and their guarded moves."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def current(self, noun: Noun, subject: int) -> Current | None:
        return await self._database.read(lambda tx: _standing(tx, noun, subject))

    async def apply(self, change: Change) -> Current | None:
        if change.noun == "task":
            return await audited(self._database, "task", change.subject, lambda tx: _move_task(tx, change))
        return await audited(self._database, change.noun, change.subject, lambda tx: move_row(tx, change))

    async def renew(self, noun: Noun, subject: int, token: int, ttl_ms: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one(f"renew_{noun}", id=subject, token=token, ttl=ttl_ms) is not None

        return await self._database.transact(work)

    async def lapsed(self, noun: Noun, limit: int) -> list[tuple[int, int]]:
        async def work(tx: Transaction) -> list[tuple[int, int]]:
            return [(row["id"], row["lease_until"]) for row in await tx.all(f"lapsed_{noun}s", limit=limit)]

        return await self._database.read(work)

    async def free_lapsed(self) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("free_lapsed_runs"))

        return await self._database.transact(work)

    async def release_all(self, owner: int) -> int:
        async def work(tx: Transaction) -> int:
            # Schedules before runs: the lock order of starting and settling a schedule.
            brought = await tx.all("disown_schedules", owner=owner)
            return len(brought) + len(await tx.all("disown_runs", owner=owner))

        return await self._database.transact(work)

    async def free(self, noun: Noun, subject: int, token: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one(f"free_{noun}", id=subject, token=token) is not None

        return await self._database.transact(work)


async def _standing(tx: Transaction, noun: Noun, subject: int) -> Current | None:
    row = await tx.one(f"{noun}_standing", id=subject)
    return struct(row, Current) if row else None


async def move_row(tx: Transaction, change: Change) -> Current | None:
    """Move a schedule or a run: one guarded update, its event, and the consequences for a run's open tasks."""
    if change.noun == "run":
        return await _move_run(tx, change)
    row = await tx.one("move_schedule", **_guards(tx, change), due=change.due)
    if row is None:
        return None
    ledger = RunCounters()
    ledger.event(change.noun, change.subject, change.move, change.was, change.became, (change.actor, change.reason))
    await ledger.write(tx, change.actor)
    return struct(row, Current)


def _guards(tx: Transaction, change: Change) -> dict[str, Any]:
    lease_until = None if change.lease_ms is None else tx.now + change.lease_ms
    guards = {"id": change.subject, "was": change.was, "token": change.token, "lease_seen": change.lease_seen}
    return {**guards, "became": change.became, "owner": change.owner, "lease_until": lease_until}


async def _move_run(tx: Transaction, change: Change) -> Current | None:
    locked = await _lock_hosts(tx, change.subject) if change.became in STOPPED else set()
    run = (await lock_runs(tx, [change.subject])).get(change.subject)
    if run is None or run["state"] != change.was:
        return None
    # The totals have the runs that ended: a run that is opened again leaves them before the move.
    opened_again = [change.subject] if change.was in RUN_ENDED else []
    await tx.batch("total_runs", [(run_id, -1) for run_id in opened_again])
    row = await tx.one("move_run", **_guards(tx, change), error=change.error)
    if row is None:
        await tx.batch("total_runs", [(run_id, 1) for run_id in opened_again])
        return None
    ledger = RunCounters()
    ledger.event(change.noun, change.subject, change.move, change.was, change.became, (change.actor, change.reason))
    if change.became in STOPPED:
        await _cancel_open(tx, change, locked, ledger)
    # The tasks of a run may have ended before the run began.
    begun = change.became == RunState.RUNNING and run["admitted"] > 0
    ended = begun and await ledger.settle(tx, {**run, "state": row["state"]}, change.actor)
    await ledger.write(tx, change.actor)
    if change.became in RUN_ENDED:
        await add_effects_of_runs(tx, [change.subject])
    return await _standing(tx, change.noun, change.subject) if ended else struct(row, Current)


async def _lock_hosts(tx: Transaction, run_id: int) -> set[int]:
    """Lock the hosts of a run's open tasks before the run, as in every report: moving a task needs that lock."""
    hosts = {row["host_id"] for row in await tx.all("hosts_of_open_tasks", run_id=run_id)}
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts)])
    return hosts


async def _open_tasks(tx: Transaction, run_id: int, locked: set[int]) -> Sequence[Row]:
    """Return the open tasks of a stopped run, all of them under the locks of their hosts."""
    rows = await tx.all("open_tasks_of_run", run_id=run_id)
    if late := {row["host_id"] for row in rows} - locked:
        # Tasks were admitted after the first query. The run is locked by now, and the holder of a host may wait for it.
        free = await tx.batch("lock_free_lines", [(host_id,) for host_id in sorted(late)])
        if len(free) < len(late):
            raise TryAgain(f"run {run_id} got URLs of hosts that a worker holds")
        rows = await tx.all("open_tasks_of_run", run_id=run_id)
    return rows


async def _cancel_open(tx: Transaction, change: Change, locked: set[int], ledger: RunCounters) -> None:
    """Cancel the open tasks of a run that stopped."""
    cancel = move("task", "cancel")
    rows = await _open_tasks(tx, change.subject, locked)
    await tx.batch("lock_offers", [(r["id"],) for r in rows])
    await take_out(tx, [tuple(r[c] for c in QUEUE_KEY) for r in rows])
    reason = f"run {change.became}"
    done = {
        r["id"]
        for r in await tx.batch(
            "cancel_tasks", [(r["id"], r["state"]) for r in rows], became=cancel.became, reason=reason
        )
    }
    ledger.count_moves(
        MovedTasks(r["id"], change.subject, r["state"], cancel.became, reason) for r in rows if r["id"] in done
    )
    await tx.batch("bring_tasks_home", [(r["id"],) for r in rows if r["home_id"] and r["id"] in done])
    await follow(tx, ledger, [r["id"] for r in rows if r["scope"] == SCOPE])
    await recrawl_list.follow(tx, ledger, [r["id"] for r in rows if r["scope"] < 0], MoveKind(is_order=True))


async def _move_task(tx: Transaction, change: Change) -> Current | None:
    """Move a task and its place in the queue or among the offers, under its host's lock."""
    task = (await lock_tasks(tx, [change.subject])).get(change.subject)
    if task is None or task.state != change.was or change.token not in (None, task.token):
        return None
    order = TaskChange(
        change.move,
        frozenset({change.was}),
        change.became,
        change.actor,
        change.reason,
        change.error,
        change.due,
        keep_attempts=change.keep_attempts,
    )
    [verdict] = await judge(tx, order, [task])
    if verdict.run_state is not None:
        raise IllegalMove("run", "reopen", verdict.run_state, legal("run", verdict.run_state))
    ledger = RunCounters()
    await move_tasks(tx, order, [task], ledger)
    count_moves(ledger, order, [task], listed=False)
    ledger.event("task", task.id, change.move, task.state, change.became, (change.actor, order.because))
    await ledger.write(tx, change.actor)
    return await _standing(tx, "task", task.id)
