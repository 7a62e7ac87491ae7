"""Ticks: schedules that come due and the runs they start, on either engine."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.frontier.lifecycle_moves import move_row
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.end_effects import add_effects_of_runs
from longline.drivers.records.runs.run_counters import RunCounters, lock_runs
from longline.drivers.records.runs.runs import CREATION_STEPS
from longline.drivers.records.schedules.run_history import note_runs
from longline.drivers.records.schedules.schedule_audit import ScheduleChange, mark_written, write_changes
from longline.drivers.records.schedules.schedules import amend, creations, insert_all, places
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleTransition
from longline.model.states import Actor, RunState, first_state, move
from longline.ports.records.frontier.frontier import Change
from longline.ports.records.schedules import FinishedTick, Launch, RunStop, ScheduleAmendment, Tick

BATCH_SIZE = 100
"""Largest number of schedules started in one transaction."""


class _ScheduleMoved(Exception):
    """A schedule or run that another actor moved first; raised to roll back the change of the run."""


class TickRecords:
    """The starts and ends of schedules' runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, owner: int, max_running: int, ttl_ms: int) -> list[Tick]:
        return await self._database.transact(partial(_start, owner, max_running, ttl_ms))

    async def launch(self, launches: Sequence[Launch], memory_mb: int = 0) -> set[int]:
        async def work(tx: Transaction) -> set[int]:
            rule = move("run", "start")
            [was] = rule.was
            rows = sorted((one.run_id, was, one.plan, one.seed, one.source_id, one.budget) for one in launches)
            await lock_runs(tx, (one.run_id for one in launches))
            begun = {row["id"] for row in await tx.batch("launch_runs", rows, became=rule.became)}
            await tx.batch("measure_runs", [(run_id, memory_mb) for run_id in sorted(begun)])
            ledger = RunCounters()
            for run_id in sorted(begun):
                ledger.event("run", run_id, rule.name, was, rule.became, ("scheduler", "due"))
            await ledger.write(tx, "scheduler")
            return begun

        return await self._database.transact(work)

    async def renew(self, owner: int, ttl_ms: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("renew_schedules", owner=owner, ttl=ttl_ms))

        return await self._database.transact(work)

    async def look(self, owner: int, longest_ms: int, limit: int) -> list[Tick]:
        async def work(tx: Transaction) -> list[Tick]:
            begun = tx.now - longest_ms
            return await _ticks(tx, await tx.all("runs_to_look_at", owner=owner, begun=begun, limit=limit))

        return await self._database.read(work)

    async def adopt(self, ticks: Sequence[Tick], owner: int, ttl_ms: int, accused: frozenset[int]) -> list[Tick]:
        return await self._database.transact(partial(_adopt, ticks, owner, ttl_ms, accused))

    async def hand_over(self, ticks: Sequence[Tick], reason: str) -> list[int]:
        return await self._database.transact(partial(_hand_over, ticks, reason))

    async def held(self, owner: int) -> list[Tick]:
        async def work(tx: Transaction) -> list[Tick]:
            return await _ticks(tx, await tx.all("schedules_of_owner", owner=owner))

        return await self._database.read(work)

    async def write_moved(
        self, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor
    ) -> dict[int, ScheduleRow]:
        _, moved = await self.sync((), turns, actor)
        return moved

    async def sync(
        self,
        new: Sequence[NewSchedule],
        turns: Sequence[tuple[ScheduleRow, ScheduleTransition]],
        actor: Actor,
    ) -> tuple[list[ScheduleRow | None], dict[int, ScheduleRow]]:
        async def work(tx: Transaction) -> tuple[list[ScheduleRow | None], dict[int, ScheduleRow]]:
            made = await insert_all(tx, [(one, one.steps) for one in new], actor) if new else []
            moved = await _apply_transitions(turns, actor, tx) if turns else {}
            await write_changes(tx, [*creations(new, made), *_audit_changes(turns, moved)])
            return made, moved

        made, moved = await self._database.transact(work)
        mark_written(change.order for change in [*creations(new, made), *_audit_changes(turns, moved)])
        return made, moved

    async def finish(self, ticks: Sequence[FinishedTick]) -> dict[int, ScheduleRow]:
        return await self._database.transact(partial(_finish, ticks))

    async def amend(self, schedule_id: int, amendment: ScheduleAmendment, actor: Actor) -> ScheduleRow | None:
        try:
            return await audited(
                self._database, "schedule", schedule_id, partial(_amend, schedule_id, amendment, actor)
            )
        except _ScheduleMoved:
            return None

    async def stop(self, tick: Tick, turn: ScheduleTransition, stop: RunStop, actor: Actor) -> ScheduleRow | None:
        async def work(tx: Transaction) -> ScheduleRow | None:
            ended = await _stop_run(tx, tick.run, stop)
            moved = await _apply_transitions([(tick.schedule, turn)], actor, tx) if ended else {}
            if tick.schedule.id not in moved:
                raise _ScheduleMoved
            await write_changes(tx, _audit_changes([(tick.schedule, turn)], moved))
            return moved[tick.schedule.id]

        try:
            row = await self._database.transact(work)
        except _ScheduleMoved:
            return None
        mark_written([turn.audit])
        return row


async def _stop_run(tx: Transaction, run: RunRow, stop: RunStop) -> bool:
    """End a run before its time; return False when it was moved meanwhile."""
    became, why = move("run", stop.move).became, stop.error
    change = Change("run", run.id, stop.move, run.state, became, stop.actor, why, token=run.token, error=why)
    return await move_row(tx, change) is not None


async def _amend(schedule_id: int, amendment: ScheduleAmendment, actor: Actor, tx: Transaction) -> ScheduleRow | None:
    run = amendment.run
    # Runs before schedules: the lock order of stopping a run.
    if run is not None and not await _stop_run(tx, run, RunStop("cancel", actor, "cancelled")):
        raise _ScheduleMoved
    found = await amend(tx, schedule_id, amendment.change, placed=True)
    if found is None:
        raise _ScheduleMoved
    before, row = found
    if amendment.token not in (None, before.token):
        raise _ScheduleMoved
    for transition_of in amendment.turns:
        turn = transition_of(before, row)
        if turn is not None:
            moved = await _apply_transitions([(row, turn)], actor, tx)
            if row.id not in moved:
                raise _ScheduleMoved
            row = moved[row.id]
    return row


async def _start(owner: int, max_running: int, ttl_ms: int, tx: Transaction) -> list[Tick]:
    held = await tx.one("held_schedules", owner=owner)
    room = min(max_running - (held["count"] if held else 0), BATCH_SIZE)
    if room <= 0:
        return []
    due = list(await tx.all("due_once", limit=room))
    due += await tx.all("due_again", limit=room - len(due)) if len(due) < room else []
    rows = [struct(row, ScheduleRow) for row in due]
    born = first_state("run", CREATION_STEPS)
    made = {
        row["schedule_id"]: row["id"] for row in await tx.batch("add_ticks", [_tick_row(s) for s in rows], state=born)
    }
    await tx.batch("add_run_counts", [(run_id,) for run_id in sorted(made.values())])
    rule = move("schedule", "start")
    started = await tx.batch(
        "start_schedules",
        [(s.id, s.state, made[s.id], _due_time(s)) for s in rows],
        became=rule.became,
        owner=owner,
        ttl=ttl_ms,
    )
    ledger = RunCounters()
    states = {s.id: s.state for s in rows}
    for row in started:
        ledger.created("run", made[row["id"]], CREATION_STEPS, ("scheduler", "due"))
        ledger.event("schedule", row["id"], rule.name, states[row["id"]], rule.became, ("scheduler", "due"))
    await ledger.write(tx, "scheduler")
    return await _ticks(tx, [{"id": row["id"], "run": made[row["id"]]} for row in started])


def _tick_row(s: ScheduleRow) -> tuple[object, ...]:
    return (new_id(), s.kind, s.url, s.source_id, s.id, s.runs_made + 1, _due_time(s), s.retries)


def _due_time(s: ScheduleRow) -> int:
    """Return the due time of a tick: a manual start in the millisecond of the last tick is another tick."""
    return max(s.next_due or 0, (s.last_due or 0) + 1)


async def _ticks(tx: Transaction, found: Sequence[Row] | Sequence[dict[str, int]]) -> list[Tick]:
    """Return the schedules and runs that these rows name."""
    schedules = await tx.batch("schedules_by_id", [(row["id"],) for row in found])
    runs = await tx.batch("runs_by_id", [(row["run"],) for row in found])
    by_id = {row["id"]: struct(row, RunRow) for row in runs}
    # A schedule may have ended between the two statements: without a lease it needs no scheduler.
    rows = (struct(row, ScheduleRow) for row in schedules if row["lease_until"] is not None)
    return [Tick(row, by_id[row.run_id], tx.now) for row in rows if row.run_id in by_id]


async def _adopt(
    ticks: Sequence[Tick], owner: int, ttl_ms: int, accused: frozenset[int], tx: Transaction
) -> list[Tick]:
    by_run = {tick.run.id: tick for tick in ticks}
    # Runs before schedules: the lock order of stopping a run.
    runs = await lock_runs(tx, by_run)
    rule = move("schedule", "adopt")
    rows = sorted((tick.schedule.id, tick.schedule.state, tick.schedule.token) for tick in ticks)
    adopted = {row["id"] for row in await tx.batch("adopt_schedules", rows, owner=owner, ttl=ttl_ms)}
    taken = [tick for _, tick in sorted(by_run.items()) if tick.schedule.id in adopted]
    gaps = {tick.run.id: tx.now - (tick.schedule.lease_until or tx.now) for tick in taken}
    ended_urls = {run_id: run["admitted"] - run["open"] for run_id, run in runs.items()}
    await tx.batch("adopt_runs", [(i, int(i in accused), gap, ended_urls[i]) for i, gap in gaps.items()])
    ledger = RunCounters()
    for tick in taken:
        why = ("scheduler", "lease lapsed" if tick.schedule.owner is not None else "handed over")
        ledger.event("schedule", tick.schedule.id, rule.name, tick.schedule.state, rule.became, why)
        if tick.run.state == RunState.RUNNING:
            ledger.event("run", tick.run.id, "adopt", tick.run.state, tick.run.state, why)
    await ledger.write(tx, "scheduler")
    return await _ticks(tx, [{"id": tick.schedule.id, "run": tick.run.id} for tick in taken])


async def _hand_over(ticks: Sequence[Tick], reason: str, tx: Transaction) -> list[int]:
    rule = move("schedule", "hand_over")
    rows = sorted((tick.schedule.id, tick.schedule.state, tick.schedule.token) for tick in ticks)
    released = {row["id"] for row in await tx.batch("hand_over_schedules", rows)}
    ledger = RunCounters()
    for tick in ticks:
        if tick.schedule.id in released:
            cause = ("scheduler", reason)
            ledger.event("schedule", tick.schedule.id, rule.name, tick.schedule.state, rule.became, cause)
    await ledger.write(tx, "scheduler")
    return [tick.run.id for tick in ticks if tick.schedule.id in released]


async def _finish(ticks: Sequence[FinishedTick], tx: Transaction) -> dict[int, ScheduleRow]:
    # Runs before schedules: the lock order of stopping a run.
    await lock_runs(tx, (one.tick.run.id for one in ticks))
    rows = sorted((s.id, s.state, s.token) for s in (one.tick.schedule for one in ticks))
    held = {row["id"] for row in await tx.batch("lock_schedules", rows)}
    ticks = [one for one in ticks if one.tick.schedule.id in held]
    ended = await _end_runs(tx, ticks)
    done = [one for one in ticks if one.end is None or one.tick.run.id in ended]
    await note_runs(tx, {one.tick.run.id: one.summary for one in done})
    return await _apply_transitions([(one.tick.schedule, one.turn) for one in done], "scheduler", tx) if done else {}


async def _end_runs(tx: Transaction, ticks: Sequence[FinishedTick]) -> set[int]:
    """End runs that are not ended yet and have no open task; return the runs that ended."""
    ends = {one.tick.run.id: (one.tick.run, move("run", one.end), one.error) for one in ticks if one.end}
    rows = [(i, run.state, rule.became, error, run.completed) for i, (run, rule, error) in sorted(ends.items())]
    ended = {row["id"] for row in await tx.batch("end_runs", rows)}
    ledger = RunCounters()
    for run_id in sorted(ended):
        run, rule, error = ends[run_id]
        ledger.event("run", run_id, rule.name, run.state, rule.became, ("scheduler", error or "no open tasks"))
    await ledger.write(tx, "scheduler")
    await add_effects_of_runs(tx, ended)
    return ended


async def _apply_transitions(
    turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor, tx: Transaction
) -> dict[int, ScheduleRow]:
    after = await _with_slots(tx, turns)
    rows = [_transition_row(before, after[before.id]) for before, _ in sorted(turns, key=lambda turn: turn[0].id)]
    moved = {row["id"] for row in await tx.batch("turn_schedules", rows)}
    ledger = RunCounters()
    for before, turn in turns:
        state = before.state
        for name in turn.steps if before.id in moved else ():
            became = move("schedule", name).became
            ledger.event("schedule", before.id, name, state, became, (actor, turn.reason))
            state = became
    await ledger.write(tx, actor)
    return {
        i: msgspec.structs.replace(after[i], token=after[i].token + 1, updated_at=tx.now, owner=None, lease_until=None)
        for i in moved
    }


def _audit_changes(
    turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], after: Mapping[int, ScheduleRow]
) -> list[ScheduleChange]:
    """Return the changes that turns made."""
    return [ScheduleChange(t.audit, t.steps, row, after[row.id]) for row, t in turns if row.id in after]


async def _with_slots(
    tx: Transaction, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]]
) -> dict[int, ScheduleRow]:
    """Return the schedules after their turns; schedules with a window get a slot."""
    windows = [turn.window_ms for _, turn in turns if turn.window_ms is not None]
    room = await places(tx, windows) if windows else None
    after = {}
    for before, turn in turns:
        after[before.id] = turn.after
        if room is not None and turn.window_ms is not None:
            due = room.take(turn.window_ms)
            after[before.id] = msgspec.structs.replace(turn.after, next_due=due, anchor=due, placed_at=tx.now)
    return after


_SLOT_COLUMNS = ("anchor", "placed_at")
_OUTCOME_COLUMNS = (
    "retries",
    "failures",
    "failed_at",
    "completed_at",
    "cancelled_at",
    "paused_at",
    "paused_by",
    "error",
)


def _transition_row(before: ScheduleRow, after: ScheduleRow) -> tuple[object, ...]:
    place = (getattr(after, name) if getattr(after, name) != getattr(before, name) else None for name in _SLOT_COLUMNS)
    kept = (getattr(after, name) for name in _OUTCOME_COLUMNS)
    return (before.id, before.state, before.token, str(after.state), after.next_due, *place, *kept)
