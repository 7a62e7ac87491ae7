"""Consequences of a change of bots' tasks: their rests and offers, their schedules, the bots' figures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters
from longline.model.bots.bot_policy import back_off_ms
from longline.model.bots.bot_task import Holding
from longline.model.duration import HOUR_MS
from longline.model.frontier.task import BOT
from longline.model.states import ENDED, TaskState

OUTCOMES = frozenset({TaskState.COMPLETED, TaskState.FAILED})
"""Ends of a task that give its schedule a new due time."""


class RestedTask(NamedTuple):
    """A held or resting task and its next rest; `answered` is true when a bot's answer led there."""

    holding: Holding
    became: TaskState
    reason: str
    retries: int
    error: str | None = None
    answered: bool = False

    @property
    def ended(self) -> bool:
        return self.became in ENDED


async def holdings(tx: Transaction, task_ids: Iterable[int]) -> dict[int, Holding]:
    """Lock the offers of these tasks in the order of their ids, and return the tasks' holdings."""
    ids = [(task_id,) for task_id in sorted(set(task_ids))]
    await tx.batch("lock_offers", ids)
    return {row["id"]: struct(row, Holding) for row in await tx.batch("bot_standings", ids)}


async def rest(tx: Transaction, rests: Sequence[RestedTask], actor: str) -> dict[int, int]:
    """Put tasks to rest with all consequences, runs last; return the next due times of their schedules."""
    await tx.batch("close_offers", [(r.holding.id, r.holding.token) for r in rests if r.ended and r.holding.owner])
    await tx.batch("empty_offers_of_tasks", [(r.holding.id,) for r in rests if r.ended and not r.holding.owner])
    await tx.batch("free_offers", [(r.holding.id,) for r in rests if not r.ended and r.holding.attempt is not None])
    gone = [r for r in rests if not r.ended and r.holding.attempt is None]
    await tx.batch("offer_tasks", [(r.holding.id, BOT, r.holding.host_id, 0, r.holding.priority, 0) for r in gone])
    await tx.batch("rest_tasks", [_task_row(r, tx.now) for r in rests])
    answered = [(r.holding.id, r.retries, tx.now if r.answered else None, r.ended) for r in rests]
    await tx.batch("rest_bot_tasks", answered)
    due = await update_schedules(tx, [(r.holding.schedule_id, r.became) for r in rests])
    await _count(tx, rests)
    ledger = RunCounters()
    ledger.count_moves(
        MovedTasks(r.holding.id, r.holding.run_id, r.holding.state, r.became, r.reason, r.holding.reason or "")
        for r in rests
    )
    await ledger.write(tx, actor)
    return due


def _task_row(r: RestedTask, now: int) -> tuple[object, ...]:
    h = r.holding
    attempt = h.rested_attempt if h.attempt is None else h.attempt
    at = now if r.ended else None
    return (h.id, h.state, r.became, r.reason, r.error, None, attempt, 0, BOT, at, None, None)


async def update_schedules(tx: Transaction, outcomes: Sequence[tuple[int | None, TaskState]]) -> dict[int, int]:
    """Update schedules after completed or failed tasks; return next due times. Retries and expiries do not count."""
    ids = sorted({schedule_id for schedule_id, _ in outcomes if schedule_id is not None})
    rows = {row["schedule_id"]: row for row in await tx.batch("lock_bot_schedules", [(i,) for i in ids])}
    updates: list[tuple[int, int, int, int | None, int | None]] = []
    for schedule_id, row in sorted(rows.items()):
        failures, due = row["failures"], row["next_due"]
        ends = [became for i, became in outcomes if i == schedule_id and became in OUTCOMES]
        for became in ends:
            failures = 0 if became == TaskState.COMPLETED else failures + 1
            due = tx.now + (back_off_ms(row["backoff_ms"], failures) if failures else row["interval_ms"])
        succeeded, failed = TaskState.COMPLETED in ends, TaskState.FAILED in ends
        if ends:
            updates.append((schedule_id, failures, due, tx.now if succeeded else None, tx.now if failed else None))
    await tx.batch("reckon_bot_schedules", updates)
    return {i: row["next_due"] for i, row in rows.items()} | {i: due for i, _, due, _, _ in updates}


async def _count(tx: Transaction, rests: Sequence[RestedTask]) -> None:
    """Count answers for the bots that gave them; a failure counts whether the task is tried again or not."""
    ends: Counter[tuple[int, str]] = Counter()
    for r in rests:
        if r.answered and r.holding.owner is not None:
            ends[-r.holding.owner, r.became] += 1
    bots = sorted({bot_id for bot_id, _ in ends})
    await tx.batch("lock_bots", [(bot_id,) for bot_id in bots])
    rows = [(i, ends[i, TaskState.COMPLETED], ends[i, TaskState.PENDING], ends[i, TaskState.FAILED]) for i in bots]
    await tx.batch("count_answers", [(i, done, again + failed) for i, done, again, failed in rows])
    await count_hours(tx, [(i, 0, 0, *counts) for i, *counts in rows])


async def count_hours(tx: Transaction, rows: Sequence[tuple[int, ...]]) -> None:
    """Add to the bots' figures of this hour: (bot, pulls, pulled, completed, retried, failed)."""
    await tx.batch("count_bot_hours", rows, hour=tx.now // HOUR_MS)
