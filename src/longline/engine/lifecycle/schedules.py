"""Moves of schedules."""

from collections.abc import Callable, Sequence

from longline.engine.lifecycle.creation import check_creation
from longline.engine.lifecycle.moves import check_move
from longline.model.errors import IllegalMove
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleTransition
from longline.model.states import Actor, legal, move
from longline.ports.records.schedules import FinishedTick, Launch, RunStop, ScheduleAmendment, ScheduleStores, Tick


class ScheduleLifecycle:
    """The moves of schedules, and of the runs that they start."""

    def __init__(self, stores: ScheduleStores) -> None:
        self._ticks = stores.ticks

    async def start(self, owner: int, max_running: int, ttl_ms: int) -> list[Tick]:
        """Start due schedules while the owner holds fewer than `max_running`; each tick is started by one scheduler."""
        return await self._ticks.start(owner, max_running, ttl_ms)

    async def launch(self, launches: Sequence[Launch], memory_mb: int = 0) -> set[int]:
        """Launch runs that a start made; return the launched runs."""
        return await self._ticks.launch(launches, memory_mb) if launches else set()

    async def renew(self, owner: int, ttl_ms: int) -> int:
        """Extend every lease of an owner on schedules; return how many."""
        return await self._ticks.renew(owner, ttl_ms)

    async def look(self, owner: int, longest_ms: int, limit: int = 500) -> list[Tick]:
        """Return lapsed ticks, and the owner's ticks with a run that has ended, is queued or takes too long."""
        return await self._ticks.look(owner, longest_ms, limit)

    async def adopt(
        self, ticks: Sequence[Tick], owner: int, ttl_ms: int, accused: frozenset[int] = frozenset()
    ) -> list[Tick]:
        """Take over lapsed ticks, each by one scheduler only; return the adopted ticks as they are now.

        The adoption counts against the `accused` runs.
        """
        for tick in ticks:
            check_move(tick.schedule.state, "adopt", "scheduler")
        return await self._ticks.adopt(ticks, owner, ttl_ms, accused) if ticks else []

    async def hand_over(self, ticks: Sequence[Tick], reason: str) -> list[int]:
        """Release the leases of ticks, for another process to continue their runs; return the runs."""
        for tick in ticks:
            check_move(tick.schedule.state, "hand_over", "scheduler")
        return await self._ticks.hand_over(ticks, reason) if ticks else []

    async def held(self, owner: int) -> list[Tick]:
        """Return every tick that an owner holds."""
        return await self._ticks.held(owner)

    async def move_all(
        self, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor
    ) -> dict[int, ScheduleRow]:
        """Move schedules, each for itself; return the moved ones, without those moved since they were read."""
        for row, turn in turns:
            check_turn(row, turn, actor)
        return await self._ticks.write_moved(turns, actor) if turns else {}

    async def sync(
        self, new: Sequence[NewSchedule], turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor
    ) -> tuple[list[ScheduleRow | None], dict[int, ScheduleRow]]:
        """Make schedules and move others, in one transaction; return the made and the moved ones.

        None stands for a schedule of a source that has a recurring one.
        """
        for one in new:
            check_creation("schedule", one.steps, actor)
        for row, turn in turns:
            check_turn(row, turn, actor)
        return await self._ticks.sync(new, turns, actor)

    async def finish(self, ticks: Sequence[FinishedTick]) -> dict[int, ScheduleRow]:
        """End done runs and move their schedules, each pair or neither; return the moved schedules."""
        for one in ticks:
            check_turn(one.tick.schedule, one.turn, "scheduler")
            if one.end is not None:
                _check_run(one.tick.run, one.end, "scheduler")
        return await self._ticks.finish(ticks) if ticks else {}

    async def stop(self, tick: Tick, turn: ScheduleTransition, stop: RunStop, actor: Actor) -> ScheduleRow | None:
        """End a run and move its schedule, both or neither; return None when one of them was moved meanwhile."""
        check_turn(tick.schedule, turn, actor)
        _check_run(tick.run, stop.move, stop.actor)
        return await self._ticks.stop(tick, turn, stop, actor)

    async def amend(self, schedule_id: int, amendment: ScheduleAmendment, actor: Actor) -> ScheduleRow | None:
        """Change the terms of a schedule and move it, all or nothing; return None when it was moved meanwhile.

        Raise `IllegalMove` for a move that is not in the table; nothing is changed then.
        """

        def checked(turn: TurnOf) -> TurnOf:
            def turned(before: ScheduleRow, row: ScheduleRow) -> ScheduleTransition | None:
                found = turn(before, row)
                if found is not None:
                    check_turn(row, found, actor)
                return found

            return turned

        if amendment.run is not None:
            _check_run(amendment.run, "cancel", actor)
        turns = [checked(turn) for turn in amendment.turns]
        return await self._ticks.amend(schedule_id, amendment._replace(turns=turns), actor)


TurnOf = Callable[[ScheduleRow, ScheduleRow], ScheduleTransition | None]
"""A function that returns the move of a schedule after a change."""


def _check_run(run: RunRow, name: str, actor: Actor) -> None:
    rule = move("run", name)
    if run.state not in rule.was or actor not in rule.actors:
        raise IllegalMove("run", name, run.state, legal("run", run.state, actor))


def check_turn(row: ScheduleRow, turn: ScheduleTransition, actor: Actor) -> None:
    """Raise `IllegalMove` unless every step of a turn is in the table and leads to the next state."""
    state: str = row.state
    for name in turn.steps:
        state = check_move(state, name, actor)
    if state != turn.after.state:
        raise ValueError(f"{turn.steps} do not lead to {turn.after.state}")
