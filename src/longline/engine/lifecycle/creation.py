"""Creation of runs and schedules: the first moves, each with its event in the transaction of the insert.

Tasks are created by `Lifecycle.admit` and with reports.
"""

from collections.abc import Sequence

from longline.model.bots.bot_policy import BotPolicyRow, NewBotPolicy
from longline.model.errors import IllegalMove
from longline.model.runs.run import NewRun, RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleRow
from longline.model.series.series_run import NewSeriesRun, SeriesRunRow
from longline.model.states import Actor, Noun, move
from longline.ports.records.bots import BotPolicyStore
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.schedules import ScheduleStore
from longline.ports.records.series import SeriesRunStore


async def create_run(runs: RunStore, run: NewRun, actor: Actor) -> RunRow:
    """Create a run, `queued`."""
    check_creation("run", ("create",), actor)
    return await runs.add(run, actor)


async def ensure_run(runs: RunStore, run: NewRun, actor: Actor) -> RunRow:
    """Return the standing run of that kind and seed; create one if there is none."""
    check_creation("run", ("create",), actor)
    return await runs.ensure(run, actor)


async def create_series_run(runs: SeriesRunStore, run: NewRun, facts: NewSeriesRun, actor: Actor) -> SeriesRunRow:
    """Create a run of a catalogue, `queued`; raise `Conflict` while another run of its subject is open."""
    check_creation("run", ("create",), actor)
    return await runs.add(run, facts, actor)


async def replace_stuck_run(
    runs: SeriesRunStore, stuck: SeriesRunRow, run: NewRun, facts: NewSeriesRun
) -> SeriesRunRow | None:
    """Fail a running run of a catalogue as stuck, and create a queued one in its place, both or neither.

    Return None for a run that has ended meanwhile.
    """
    check_creation("run", ("create",), "person")
    return await runs.replace_stuck(stuck, run, facts)


async def create_schedule(schedules: ScheduleStore, schedule: NewSchedule, actor: Actor) -> ScheduleRow:
    """Create a schedule; raise `Conflict` where its source has a recurring one."""
    check_creation("schedule", schedule.steps, actor)
    return await schedules.add(schedule, actor)


async def create_schedules(
    schedules: ScheduleStore, new: Sequence[NewSchedule], actor: Actor
) -> list[ScheduleRow | None]:
    """Create schedules in one step; None stands for a schedule of a source that has a recurring one."""
    for schedule in new:
        check_creation("schedule", schedule.steps, actor)
    return await schedules.add_all(new, actor)


async def create_policy(policies: BotPolicyStore, policy: NewBotPolicy, actor: Actor) -> BotPolicyRow | None:
    """Create a schedule for bots; return None when the URL, or the name within the domain, is taken."""
    check_creation("schedule", policy.steps, actor)
    return await policies.add(policy, actor)


def check_creation(noun: Noun, steps: Sequence[str], actor: Actor) -> None:
    """Raise `IllegalMove` where the actor may not create a row by these moves."""
    for name in steps:
        if actor not in move(noun, name).actors:
            raise IllegalMove(noun, name, "new", ())
