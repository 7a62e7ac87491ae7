"""Thousands of random moves by many actors at once, on both engines: every move follows the table, and the sums hold.

A failure prints its seed; `LONGLINE_TEST_SEED` sets it. The decisions of each actor follow from the seed, the order
of the moves does not.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from itertools import count

import pytest

from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import IllegalMove, StaleLease
from longline.model.frontier.task import PARSE
from longline.model.states import Noun
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import ended, host_report
from tests.engine.history import History
from tests.engine.storm import TTL, Actor, Parser, Person, Scheduler, Upkeep, Worker, World

ROUNDS, STEPS = 24, 30
CAST = (*[Worker] * 6, *[Parser] * 3, *[Person] * 3, *[Scheduler] * 2, Upkeep)


@pytest.fixture
def seed() -> str:
    chosen = os.environ.get("LONGLINE_TEST_SEED") or str(time.time_ns())
    print(f"LONGLINE_TEST_SEED={chosen}")
    return chosen


@pytest.fixture
async def ways_in(records_url: str, clock: FakeClock) -> AsyncIterator[list[Records]]:
    """Records of several processes that share one database."""
    opened = [await open_records(records_url, clock) for _ in range(3)]
    yield opened
    for each in opened:
        await each.schema.close()


def cast(ways_in: list[Records], world: World, seed: str) -> list[Actor]:
    numbers = count(1)
    return [
        kind(f"{kind.__name__.lower()}{n}", n, ways_in[n % len(ways_in)], world, seed)
        for kind, n in zip(CAST, numbers, strict=False)
    ]


async def storm(actors: list[Actor]) -> None:
    """Run all actors at once."""

    async def life(actor: Actor) -> None:
        for _ in range(STEPS):
            await actor.step()

    await asyncio.gather(*(life(actor) for actor in actors))


async def stale_probes(actors: list[Actor], peek: Peek) -> None:
    """Check between storms that no call under a lost lease changes a row."""
    before = await peek.snapshot()
    for actor in actors:
        await actor.stale_again()
    assert await peek.snapshot() == before


async def history(records: Records, peek: Peek) -> History:
    """Return the history of all nouns, read from all events."""
    born: dict[tuple[Noun, int], str] = {("task", i): "pending" for (i,) in await peek.rows("SELECT id FROM tasks")}
    told = History(born)
    after = 0
    while events := await records.events.find(after=after, limit=500):
        told.read(events)
        after = events[-1].id
    return told


async def states(peek: Peek) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for noun in ("task", "run", "schedule"):
        found |= {(noun, i): state for i, state in await peek.rows(f"SELECT id, state FROM {noun}s")}
    return found


async def check_history(records: Records, peek: Peek, world: World) -> History:
    """Check that the log is legal, ends in the states of the rows, and has every accepted report and no other."""
    told = await history(records, peek)
    assert told.faults == []
    assert told.states == await states(peek)
    reported = {reason: sorted(moves) for reason, moves in told.reasons.items() if not reason.startswith("run ")}
    assert reported == {marker: moves for marker, moves in world.told.items() if moves}
    stored = {key for (key,) in await peek.rows("SELECT key FROM segments WHERE state = 'stored'")}
    assert stored == {key for key, taken in world.segments.items() if taken}
    return told


async def check_sums(peek: Peek, world: World) -> None:
    assert world.faults == []
    assert await faults(peek, world.clock.now()) == []
    assert await peek.value("SELECT COUNT(*) FROM tasks") == world.admitted
    assert [lease for lease, times in world.leases.items() if times > 1] == [], "a token was given twice"
    assert await peek.rows("SELECT id, budget, admitted FROM runs_now WHERE admitted > budget") == []


async def wind_down(records: Records, world: World) -> None:
    """Complete every task without further moves of people: no task may be stuck."""
    lifecycle = Lifecycle(records)
    for run_id in world.runs:
        await _attempt(lifecycle, MoveRequest("run", run_id, "start", "scheduler", owner=99, lease_ms=10**9))
    for _ in range(200):
        world.clock.advance(TTL / 1000 + 1)
        await lifecycle.reap(1000)
        for task in await records.tasks.find(limit=10_000):
            if task.state == "paused":
                await _attempt(lifecycle, MoveRequest("task", task.id, "resume", "person"))
        hosts = await lifecycle.claim(ClaimRequest(99, 100, 100, TTL))
        taken = await lifecycle.take(PARSE, 99, 1000, TTL)
        if hosts:
            assert not (await lifecycle.report(ReportBatch([host_report(lease) for lease in hosts]))).refused
        if taken:
            assert not (await lifecycle.give([(x.token, ended(x.task)) for x in taken], ReportBatch())).refused
        if (await records.tasks.counts())["open"] == 0:
            return
    raise AssertionError(f"still open after all that time: {await records.tasks.counts()}")


async def _attempt(lifecycle: Lifecycle, order: MoveRequest) -> None:
    try:
        await lifecycle.move(order)
    except (IllegalMove, StaleLease):
        return


@pytest.mark.slow(reason="thousands of moves")
async def test_random_moves_by_many_actors(
    ways_in: list[Records], clock: FakeClock, peek: Peek, seed: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "longline.drivers.records")
    world = World(clock)
    actors = cast(ways_in, world, seed)
    founder = next(actor for actor in actors if isinstance(actor, Person))
    for _ in range(6):
        await founder.make()
        await founder.admit()
    for _ in range(ROUNDS):
        await storm(actors)
        await check_sums(peek, world)
        await stale_probes(actors, peek)
    told = await check_history(ways_in[0], peek, world)
    print(f"{told.moves} moves:", ", ".join(f"{what} {times}" for what, times in sorted(world.done.items())))
    assert told.moves > 2000
    for what in ("stale reports", "stale gives", "stale moves", "reports refused", "hosts reaped", "offers reaped"):
        assert world.done[what] > 0, f"this storm had no {what}"
    anew = [record.__dict__["why"] for record in caplog.records if record.message == "transaction retried"]
    assert anew.count("DeadlockDetectedError") <= 2, "locks are not taken in one order"
    await wind_down(ways_in[0], world)
    assert await faults(peek, clock.now()) == []
    assert (await ways_in[0].runs.counts()).get("running", 0) == len(
        await peek.rows("SELECT id FROM runs_now WHERE state = 'running' AND admitted = 0")
    )
