"""Lists of schedules by next start: pages that go on by key have every schedule once, in the order of the database."""

import msgspec

from longline.engine.lifecycle.creation import create_schedule
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleFilter
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.services.schedules.schedule_lists import ScheduleLists

ROWS = 30
NEXT_STARTS = ScheduleFilter(sort="next_run_at", ascending=True)


async def make_schedules(records: Records) -> None:
    """Make schedules of which some start at the same time, some run once, and some are paused."""
    for number in range(ROWS):
        interval = None if number % 3 == 0 else 3_600_000
        due = 4_000_000_000_000 + number // 4 * 1000
        new = NewSchedule(new_id(), f"https://s{number}.example/", None, interval, due)
        row = await create_schedule(records.schedules, new, "person")
        if number % 7 == 1:
            await records.moves.apply(Change("schedule", row.id, "pause", row.state, "paused", "person"))


async def test_pages_have_every_schedule_once_in_the_order_of_next_starts(records: Records):
    await make_schedules(records)
    lists = ScheduleLists(records.schedules)
    paged: list[str] = []
    place: tuple[int | None, int] | None = None
    while rows := await lists.find(msgspec.structs.replace(NEXT_STARTS, after=place), 4):
        paged += [row.uid for row in rows]
        last = rows[-1]
        place = (last.next_due if last.state in ("pending", "scheduled") else None, last.id)
        assert len(paged) <= ROWS
    whole = await lists.find(NEXT_STARTS, ROWS)
    assert paged == [row.uid for row in whole]
    assert len(set(paged)) == ROWS
    # With an offset, the database sorts all of them.
    assert paged[1:] == [row.uid for row in await records.schedules.find(NEXT_STARTS, limit=ROWS, offset=1)]
    states = [row.state for row in whole]
    assert states.index("paused") > states.index("scheduled")
    assert states[-states.count("paused") :] == ["paused"] * states.count("paused")
