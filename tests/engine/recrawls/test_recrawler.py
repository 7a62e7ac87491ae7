"""The loop of recrawls: several loops make each successor once."""

import asyncio

from msgspec.structs import replace

from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.recrawls.recrawler import Recrawler
from longline.model.ids import new_id
from longline.model.recrawls.hold import Hold, HoldWindow
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from longline.services.frontier.task_moves import TaskMoves
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.peek import Peek
from tests.drivers.records.recrawls.test_recrawls import fetch_all, get
from tests.drivers.records.recrawls.world import DAY_MS, HOST, recrawl, shop, submit, submit_one
from tests.drivers.records.world import claim_one


def recrawler(records: Records) -> Recrawler:
    return Recrawler(records, Lifecycle(records).tasks)


async def test_two_loops_at_once_make_one_successor_each_interval_while_one_is_killed(
    records: Records, records_url: str, peek: Peek, clock: FakeClock
):
    other = await open_records(records_url, clock)
    run = await shop(records)
    await submit(records, *(recrawl(run, f"/{n}") for n in range(50)))
    await fetch_all(records)
    for generation in range(1, 6):
        clock.advance(DAY_MS / 1000)
        killed = asyncio.create_task(recrawler(other).once())
        made = asyncio.create_task(recrawler(records).once())
        await asyncio.sleep(0.001 * generation)
        killed.cancel()
        await asyncio.gather(killed, return_exceptions=True)
        await made
        await recrawler(records).once()
        await fetch_all(records)
    rows = await peek.rows("SELECT generation, COUNT(*) FROM recrawls GROUP BY generation ORDER BY generation")
    assert rows == [(generation, 50) for generation in range(6)]
    assert await peek.rows("SELECT COUNT(*) FROM recrawls WHERE rest = 'completed'") == [(300,)]
    assert await faults(peek, clock.now()) == []
    await other.schema.close()


async def test_children_are_woken_by_a_completed_parent_and_cancelled_by_a_cancelled_one(
    records: Records, peek: Peek, clock: FakeClock
):
    run, loop, moves = await shop(records), recrawler(records), TaskMoves(Lifecycle(records))
    done, dropped = await submit_one(records, recrawl(run, "/a")), await submit_one(records, recrawl(run, "/b"))
    woken = await submit_one(records, recrawl(run, "/a/1", parent_id=done, depth=1))
    orphan = await submit_one(records, recrawl(run, "/b/1", parent_id=dropped, depth=1))
    grandchild = await submit_one(records, recrawl(run, "/b/1/1", parent_id=orphan, depth=2))
    await moves.cancel([dropped])
    await fetch_all(records)
    await loop.once()
    await loop.once()
    phases = [(await get(records, task_id)).phase for task_id in (woken, orphan, grandchild)]
    assert phases == ["ready", "cancelled", "cancelled"]
    assert await records.generations.calls(9) == []
    assert await faults(peek, clock.now()) == []


async def test_a_child_recurs_after_its_parent_was_cancelled_or_restarted(
    records: Records, peek: Peek, clock: FakeClock
):
    run, loop, moves = await shop(records), recrawler(records), TaskMoves(Lifecycle(records))
    cancelled, restarted = await submit_one(records, recrawl(run, "/a")), await submit_one(records, recrawl(run, "/b"))
    await submit_one(records, recrawl(run, "/a/1", parent_id=cancelled, depth=1))
    await submit_one(records, recrawl(run, "/b/1", parent_id=restarted, depth=1))
    await fetch_all(records)
    await loop.once()
    await fetch_all(records)
    await moves.cancel([cancelled])
    clock.advance(DAY_MS / 1000)
    await moves.restart([restarted])
    assert await loop.once() == 2
    rows = await peek.rows("SELECT url, parent_id, depth, waits FROM recrawls WHERE generation = 1 ORDER BY url")
    assert [tuple(row) for row in rows] == [(f"https://{HOST}/{n}/1", None, 1, False) for n in ("a", "b")]
    assert await faults(peek, clock.now()) == []


async def test_a_child_waits_over_a_pause_and_a_resumption(records: Records, peek: Peek, clock: FakeClock):
    run, loop, moves = await shop(records), recrawler(records), TaskMoves(Lifecycle(records))
    parent = await submit_one(records, recrawl(run, "/a"))
    resumed, paused, restarted = [
        await submit_one(records, recrawl(run, f"/a/{n}", parent_id=parent, depth=1)) for n in range(3)
    ]
    await moves.pause([resumed, paused])
    await moves.resume([resumed])
    await moves.restart([restarted])

    async def phases() -> list[str]:
        return [(await get(records, task_id)).phase for task_id in (resumed, paused, restarted)]

    assert await phases() == ["waiting", "paused", "ready"], "a restart ends the wait"
    await fetch_all(records)
    assert await phases() == ["waiting", "paused", "completed"]
    await loop.once()
    assert await phases() == ["ready", "paused", "completed"]
    await moves.resume([paused])
    assert await phases() == ["ready", "ready", "completed"]
    assert await faults(peek, clock.now()) == []
    await fetch_all(records)
    assert await phases() == ["completed"] * 3


async def test_holds_end_and_windows_repeat(records: Records, clock: FakeClock):
    run, loop = await shop(records), recrawler(records)
    await submit_one(records, recrawl(run))
    await records.holds.hold(Hold(run.id, "maintenance", 0, clock.now() + 1000))
    await claim_one(records, HOST)
    clock.advance(1)
    await loop.once()
    assert await records.holds.find() == []
    second = clock.now() // 1000 % 86_400
    await records.holds.set_window(run.id, HoldWindow(run.id, (second + 60) % 86_400, (second + 120) % 86_400))
    assert await records.holds.held_runs() == frozenset()
    clock.advance(90)
    assert await records.holds.held_runs() == {run.id}
    clock.advance(60)
    await loop.once()
    [hold] = await records.holds.find()
    assert hold.since > clock.now(), "the window of tomorrow"


async def test_a_source_disabled_by_any_api_is_held_and_released(records: Records, peek: Peek, clock: FakeClock):
    run, loop = await shop(records), recrawler(records)
    images = await records.runs.ensure(NewRun(new_id(), RunKind.IMAGES, "{}", run.seed, source_id=run.source_id))
    task_id = await submit_one(records, recrawl(run))
    row = await records.sources.get(run.source_id or 0)
    assert row is not None
    await records.sources.change(replace(row, enabled=False))
    await loop.once()
    await loop.once()
    assert await records.holds.held_runs() == {run.id, images.id}
    assert (await get(records, task_id)).phase == "waiting"
    await fetch_all(records)
    assert (await get(records, task_id)).phase == "waiting"
    await records.sources.change(replace(row, enabled=True))
    await loop.once()
    assert await records.holds.find() == []
    await fetch_all(records)
    assert (await get(records, task_id)).phase == "completed"
