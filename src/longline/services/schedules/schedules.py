"""Schedules: made, changed, paused, resumed, cancelled and looked up."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from longline.engine.lifecycle.creation import create_schedules
from longline.engine.lifecycle.runs import Call
from longline.engine.lifecycle.schedules import ScheduleLifecycle, check_turn
from longline.model.callers.audit import audit_context
from longline.model.errors import BadInput, Conflict, IllegalMove, NotFound, StaleLease, Unavailable
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import (
    NewSchedule,
    ScheduleFilter,
    ScheduleKind,
    ScheduleRow,
    ScheduleSpec,
    ScheduleTransition,
    cancelled,
    forced,
    paused,
    resumed,
    retried,
)
from longline.model.states import RUN_ENDED, Actor, ScheduleState
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.schedules import PageChangeStore, RunStop, ScheduleAmendment, Tick
from longline.ports.records.schedules import ScheduleStore as ScheduleRecords
from longline.services.group_commit import GroupCommit

log = logging.getLogger(__name__)

MAX_TRIES = 8
PERSON: Actor = "person"


class NoSuchTransition(BadInput):
    """A person asked for a state that cannot be reached from the present one."""

    def __init__(self, was: str, wanted: str) -> None:
        self.was, self.wanted = was, wanted
        super().__init__(f"invalid state transition from {was} to {wanted}")


def _audited(turn: ScheduleTransition) -> ScheduleTransition:
    """Return the transition with the audit context of the caller; a group commit runs outside of the context."""
    return msgspec.structs.replace(turn, audit=audit_context("schedule"))


def new_schedule(terms: ScheduleSpec, now: int) -> NewSchedule:
    """Return a schedule that the present caller orders: in the least loaded slot or, if it runs once, due now."""
    interval = terms.interval_ms
    due = now if interval is None else None
    new = NewSchedule(new_id(), terms.url, interval_ms=interval, next_due=due, terms=terms, window_ms=interval)
    return msgspec.structs.replace(new, audit=audit_context("schedule"))


def _placed(row: ScheduleRow) -> ScheduleTransition:
    after = msgspec.structs.replace(row, state=ScheduleState.SCHEDULED)
    moves = ("recur",) if row.state == ScheduleState.COMPLETED else ("place",)
    return ScheduleTransition(moves, after, window_ms=row.interval_ms)


def _placed_anew(before: ScheduleRow, row: ScheduleRow) -> ScheduleTransition | None:
    """Return the move of a schedule that a change of its terms lets recur."""
    moved = (row.interval_ms, row.enabled) != (before.interval_ms, before.enabled)
    return _placed(row) if moved and _awaits_a_place(row) else None


def _awaits_a_place(row: ScheduleRow) -> bool:
    """Return whether a recurring schedule is in a state from which no scheduler starts it at its regular times."""
    if row.interval_ms is None:
        return False
    return row.state == ScheduleState.COMPLETED or (row.state == ScheduleState.PENDING and row.retries == 0)


async def call_no_one() -> None:
    """Do nothing: schedulers also poll, only not at once."""


class Schedules:
    """All operations on schedules; when one makes a schedule due, `call` lets schedulers poll at once."""

    def __init__(
        self,
        schedule_lifecycle: ScheduleLifecycle,
        records: ScheduleRecords,
        runs: RunStore,
        page_change_store: PageChangeStore,
        clock: Clock,
        call: Call = call_no_one,
    ) -> None:
        self._schedule_lifecycle, self._records, self._runs = schedule_lifecycle, records, runs
        self._page_change_store, self._clock, self._call = page_change_store, clock, call
        # Concurrent calls share one query of the slots and one commit.
        self._making: GroupCommit[NewSchedule, ScheduleRow | None] = GroupCommit(self._make_all, lambda one: one.uid)
        self._turning: GroupCommit[tuple[ScheduleRow, ScheduleTransition], ScheduleRow | None] = GroupCommit(
            self._turn_all, lambda one: one[0].id
        )

    async def make(self, terms: ScheduleSpec) -> ScheduleRow:
        """Make a schedule; a recurring one replaces the recurring schedule of its source."""
        terms.check()
        for _ in range(MAX_TRIES):
            made = await self._making(new_schedule(terms, self._clock.now()))
            if made is not None:
                return made
            known = (await self._records.recurring(terms.source_ref)).get(terms.source_ref)
            if known is not None:
                with suppress(Conflict):  # another schedule replaced it; the next round changes that one
                    return await self._call_schedulers(await self._replace(known, terms))
        raise Conflict(f"the source {terms.source_ref} has a recurring schedule already")

    async def _make_all(self, new: Sequence[NewSchedule]) -> list[ScheduleRow | None]:
        """Make schedules in one commit, and call schedulers once for all of them."""
        made = await create_schedules(self._records, new, PERSON)
        if any(row is not None and self._is_awaited(row) for row in made):
            await self._call()
        return made

    async def _turn_all(self, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]]) -> list[ScheduleRow | None]:
        moved = await self._schedule_lifecycle.move_all(turns, PERSON)
        return [moved.get(row.id) for row, _ in turns]

    async def _replace(self, known: ScheduleRow, terms: ScheduleSpec) -> ScheduleRow:
        """Give a schedule other terms; resume it after a failure or a person's pause, not after its source's."""
        changed = await self.change(known.uid, lambda _: terms)
        with suppress(IllegalMove):  # another caller may be resuming it just now
            if changed.state == ScheduleState.FAILED:
                return await self.retry(known.uid)
            if changed.state == ScheduleState.PAUSED and changed.paused_by == PERSON:
                return await self.resume(known.uid)
            return changed
        return await self.get(known.uid)

    async def get(self, uid: str) -> ScheduleRow:
        """Return a schedule; raise `NotFound` for an unknown id."""
        row = await self._records.get_by_uid(uid)
        if row is None or row.kind != ScheduleKind.CRAWL:
            raise NotFound("schedule", uid)
        return row

    async def find(self, wanted: ScheduleFilter, limit: int, offset: int) -> tuple[list[ScheduleRow], int]:
        """Return matching schedules, and their total number."""
        return await self._records.find(wanted, limit=limit, offset=offset), await self._records.count(wanted)

    async def states(self) -> dict[str, int]:
        """Return the number of schedules in every state, zeros included."""
        found = await self._records.states(ScheduleKind.CRAWL)
        return {state.value: found.get(state, 0) for state in ScheduleState}

    async def change(
        self, uid: str, amend: Callable[[ScheduleSpec], ScheduleSpec], state: str | None = None
    ) -> ScheduleRow:
        """Change the terms of a schedule and move it to `state` if given, in one transaction."""

        def checked(terms: ScheduleSpec) -> ScheduleSpec:
            amended = amend(terms)
            amended.check()
            return amended

        def wanted(_: ScheduleRow, row: ScheduleRow) -> ScheduleTransition | None:
            return self._transition_to(row, state) if state not in (None, row.state) else None

        for _ in range(MAX_TRIES):
            row = await self.get(uid)
            wanted(row, row)  # a state that cannot be reached is refused before the terms are looked at
            amendment = ScheduleAmendment(checked, (_placed_anew, wanted))
            if state == ScheduleState.CANCELLED:
                # A run that starts meanwhile would go on without its schedule.
                amendment = amendment._replace(run=await self._under_way(row), token=row.token)
            changed = await self._schedule_lifecycle.amend(row.id, amendment, PERSON)
            if changed is not None:
                return await self._call_schedulers(changed)
        raise StaleLease(f"schedule {uid} kept changing")

    async def _call_schedulers(self, row: ScheduleRow) -> ScheduleRow:
        """Call schedulers if the schedule is due now; return the schedule."""
        if self._is_awaited(row):
            await self._call()
        return row

    def _is_awaited(self, row: ScheduleRow) -> bool:
        # A schedule placed in a slot waits for the next poll: its maker may want to change it first.
        return row.state == ScheduleState.PENDING and row.next_due is not None and row.next_due <= self._clock.now()

    async def _move(self, row: ScheduleRow, turn: ScheduleTransition) -> ScheduleRow | None:
        """Move a schedule in a group commit; raise for an illegal move before it joins the batch."""
        check_turn(row, turn, PERSON)
        return await self._turning((row, _audited(turn)))

    def _transition_to(self, row: ScheduleRow, state: str) -> ScheduleTransition:
        """Return the transition by which a person moves a schedule to a state."""
        now = self._clock.now()
        ways: dict[tuple[str, str], Callable[[], ScheduleTransition]] = {
            ("scheduled", "paused"): lambda: paused(row, now, PERSON),
            ("paused", "scheduled"): lambda: self._resumed(row),
            ("scheduled", "pending"): lambda: forced(row, now),
            ("failed", "pending"): lambda: retried(row, now),
            ("pending", "scheduled"): lambda: _placed(row),
        }
        if row.interval_ms is not None:
            ways["completed", "scheduled"] = lambda: _placed(row)
        if state == ScheduleState.CANCELLED and row.state in ("pending", "scheduled", "running", "paused"):
            return cancelled(row, now)
        if (row.state, state) not in ways:
            raise NoSuchTransition(row.state, state)
        return ways[row.state, state]()

    async def pause(self, uid: str, by: str = PERSON) -> ScheduleRow:
        """Pause a schedule until it is resumed; `by` is stored."""
        return await self._bring(uid, lambda row: paused(row, self._clock.now(), by))

    async def resume(self, uid: str) -> ScheduleRow:
        """Resume a schedule, in the slot with the most room."""
        return await self._bring(uid, self._resumed)

    def _resumed(self, row: ScheduleRow) -> ScheduleTransition:
        return resumed(row, None if row.interval_ms else self._clock.now())

    async def cancel(self, uid: str) -> ScheduleRow:
        """Cancel a schedule for good, and its run."""
        return await self._bring(uid, lambda row: cancelled(row, self._clock.now()))

    async def retry(self, uid: str) -> ScheduleRow:
        """Run a failed schedule again."""
        return await self._bring(uid, lambda row: retried(row, self._clock.now()))

    async def force(self, uid: str) -> ScheduleRow:
        """Run a schedule now, and at its regular times afterwards."""
        return await self._bring(uid, lambda row: forced(row, self._clock.now()))

    async def remove(self, uid: str) -> None:
        """Delete a schedule and its history; a run under way is cancelled first."""
        for _ in range(MAX_TRIES):
            row = await self.get(uid)
            if row.state == ScheduleState.RUNNING:
                with suppress(IllegalMove):  # its run may just have ended
                    await self.cancel(uid)
            if await self._records.remove(row.id):
                break
        if row.source_ref and row.interval_ms is not None:
            await self._forget_page_changes(row.source_ref)

    async def forget(self, source_ref: str) -> None:
        """Delete the recurring schedule, if any, of a source that was deleted."""
        row = (await self._records.recurring(source_ref)).get(source_ref)
        if row is not None:
            await self.remove(row.uid)

    async def _forget_page_changes(self, source_ref: str) -> None:
        try:
            await self._page_change_store.forget(source_ref)
        except Unavailable as error:
            log.warning("page-change history not deleted", extra={"error": str(error)})

    async def _bring(self, uid: str, turning: Callable[[ScheduleRow], ScheduleTransition]) -> ScheduleRow:
        """Apply a transition; retry when another caller moved the schedule meanwhile."""
        for _ in range(MAX_TRIES):
            row = await self.get(uid)
            turn = turning(row)
            run = await self._under_way(row)
            if run is not None and turn.steps == ("cancel",):
                stop = RunStop("cancel", PERSON, "cancelled")
                moved = await self._schedule_lifecycle.stop(
                    Tick(row, run, self._clock.now()), _audited(turn), stop, PERSON
                )
            else:
                moved = await self._move(row, turn)
            if moved is not None:
                return await self._call_schedulers(moved)
        raise StaleLease(f"schedule {uid} kept changing")

    async def _under_way(self, row: ScheduleRow) -> RunRow | None:
        if row.state != ScheduleState.RUNNING or row.run_id is None:
            return None
        run = await self._runs.get(row.run_id)
        return run if run is not None and run.state not in RUN_ENDED else None
