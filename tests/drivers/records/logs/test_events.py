"""Events in an order that can be followed, although ids are drawn before commits."""

import asyncio

import asyncpg
import pytest

from longline.drivers.records.logs import events
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from tests.drivers.records.world import queued_run, running_run

LATE = """
INSERT INTO events (at, noun, subject, move, was, became, actor)
VALUES (1, 'run', 1, 'late', 'queued', 'running', 'worker') RETURNING id
"""


async def followed(records: Records, after: int) -> tuple[list[str], int]:
    found = await records.events.find(after=after)
    return [event.move for event in found], found[-1].id if found else after


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_an_event_that_commits_late_is_not_lost(records: Records, records_url: str):
    _, start = await followed(records, 0)
    connection = await asyncpg.connect(records_url)
    try:
        slow = connection.transaction()
        await slow.start()
        drawn = await connection.fetchval(LATE)
        await running_run(records)
        seen, last = await followed(records, start)
        assert seen == ["create", "start"]
        quick = await connection.fetchval("SELECT id FROM events WHERE move = 'start' ORDER BY id DESC LIMIT 1")
        assert quick is None or quick > drawn, "the late event drew its id first"
        await slow.commit()
        assert (await followed(records, last))[0] == ["late"]
    finally:
        await connection.close()


async def test_concurrent_writers_and_followers_have_the_same_events(records: Records):
    runs = [await queued_run(records) for _ in range(20)]
    start = await records.events.newest()
    done = asyncio.Event()

    async def write(run_id: int) -> None:
        assert await records.moves.apply(Change("run", run_id, "start", "queued", "running", "scheduler"))
        assert await records.moves.apply(Change("run", run_id, "cancel", "running", "cancelled", "person"))

    async def follow() -> list[tuple[int, int, str]]:
        after, seen = start, []
        while True:
            ended = done.is_set()
            for event in await records.events.find(after=after, limit=7):
                seen.append((event.id, event.subject, event.move))
                after = event.id
            if ended and not await records.events.find(after=after):
                return seen

    following = [asyncio.create_task(follow()) for _ in range(4)]
    await asyncio.gather(*(write(run.id) for run in runs))
    done.set()
    first, *others = await asyncio.gather(*following)
    assert all(other == first for other in others)
    assert [place for place, _, _ in first] == list(range(start + 1, start + 41))
    for run in runs:
        assert [move for _, subject, move in first if subject == run.id] == ["start", "cancel"]


async def test_positions_of_events_are_assigned_in_batches_and_once(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "BATCH_SIZE", 2)
    for _ in range(5):
        await running_run(records)
    found = await records.events.find()
    assert len(found) == 10
    assert await records.events.newest() == found[-1].id
    await running_run(records)
    assert [event.id for event in await records.events.find(after=found[-1].id)] == [found[-1].id + 1, found[-1].id + 2]


async def test_lists_of_moves_can_be_left_out(records: Records):
    await running_run(records)
    found = await records.events.find(listed=False)
    assert [(event.move, event.moves) for event in found] == [("create", None), ("start", None)]
