"""Retention: runs that are too old or too many are deleted with all their rows, unless they are in use."""

import asyncio

import pytest
from msgspec.structs import replace

from longline.engine.runs.retention import Retention, RunDeleter
from longline.model.discovery.candidate import Decision
from longline.model.errors import Conflict, NotFound
from longline.model.frontier.task import PageFacts
from longline.model.ids import new_id
from longline.model.logs.run_log import NewLogEntry
from longline.model.runs.end_effect import RunEffectKind
from longline.model.runs.retention import BODY_GRACE_MS, RetentionAges
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.search.item import Origin, new_items
from longline.model.sinks.sink import SinkAddress
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.peek import Peek
from tests.drivers.records.references import dangling, references
from tests.drivers.records.world import (
    ME,
    admit,
    claim,
    ended,
    get_run,
    host_report,
    report,
    running_run,
    url,
    visit,
)
from tests.engine.runs.objects import Objects
from tests.engine.schedules.test_scheduler import schedule, scheduler, work

DAY = 86_400
DAY_MS = DAY * 1000
AGES = RetentionAges(
    crawls_ms=0,
    scheduled_ms=30 * DAY_MS,
    service_ms=7 * DAY_MS,
    standing_ms=90 * DAY_MS,
    bots_ms=0,
    events_ms=30 * DAY_MS,
    visits_ms=90 * DAY_MS,
)


@pytest.fixture
def objects() -> Objects:
    return Objects()


def deleter(records: Records, objects: Objects) -> RunDeleter:
    return RunDeleter(records.retention, objects, objects)


def retention(records: Records, clock: FakeClock, objects: Objects, ages: RetentionAges = AGES) -> Retention:
    return Retention(records.retention, records.candidates, deleter(records, objects), objects, ages, clock)


async def fetched(records: Records, run: RunRow, objects: Objects, *paths: str, body_of: int | None = None) -> int:
    """Let a run fetch pages into one segment; return the id of the last task."""
    await admit(records, *(url(run, path=path) for path in paths))
    [lease] = (await claim(records)).values()
    key = f"segments/{new_id()}"
    await objects.put(key, b"x")
    facts = PageFacts(0, 1, "sha256:00", 200, "text/html", 1, 1, 1, "https://a.example/", body_of=body_of)
    outcomes = [ended(task, page=replace(facts, url=task.url)) for task in lease.tasks]
    segment = WrittenSegment(await records.segments.begin(key, ME), len(outcomes), 1)
    assert not (await report(records, host_report(lease, outcomes), segment=segment)).refused
    return max(task.id for task in lease.tasks)


async def test_a_run_is_deleted_with_every_row_and_object(records: Records, peek: Peek, objects: Objects):
    empty = await peek.snapshot()
    run = await running_run(records)
    await fetched(records, run, objects, "/1", "/2")
    for stored in await records.pages.of_run(run.id):
        shared = [("book", {"title": "Rod", "url": "https://a.example/x"})]
        await records.items.put(new_items(shared, Origin(run.id, stored.task_id, stored.url)), [stored])
    assert await peek.value("SELECT COUNT(*) FROM item_pages") == 1
    await records.logs.append([NewLogEntry(run.id, 1, "info", "fetch", "told", None)], {})
    await objects.put("logs/1.gz", b"x")
    await records.logs.archived(run.id, 0, "logs/1.gz", 1, 1)
    assert {"/1", "/2"} <= {task.url[17:] for task in await records.tasks.find(run_id=run.id)}
    await deleter(records, objects).delete(run.id)
    left = {table: rows for table, rows in (await peek.snapshot()).items() if rows != empty[table]}
    # The bodies are those of the last visits: the next crawl requests them conditionally.
    assert left.keys() == {"hosts", "line", "visits", "bodies", "segments", "run_totals", "items", "unindexed"}
    assert list(objects.objects) == [left["segments"][0][1]]
    assert await records.runs.counts() == {}
    with pytest.raises(NotFound):
        await deleter(records, objects).delete(run.id)


async def test_bodies_of_old_visits_are_deleted_with_their_segments(
    records: Records, peek: Peek, objects: Objects, clock: FakeClock
):
    run = await running_run(records)
    await fetched(records, run, objects, "/1")
    await deleter(records, objects).delete(run.id)
    chore = retention(records, clock, objects)
    clock.advance(89 * DAY)
    await chore.once()
    assert await peek.value("SELECT COUNT(*) FROM bodies") == 1
    for _ in range(2):
        clock.advance(2 * DAY)
        await chore.once()
    assert await peek.value("SELECT COUNT(*) FROM bodies") == await peek.value("SELECT COUNT(*) FROM visits") == 0
    assert (await records.segments.find(), objects.objects) == ([], {})


async def test_a_body_is_kept_while_a_younger_page_refers_to_it(
    records: Records, peek: Peek, objects: Objects, clock: FakeClock
):
    old, young = await running_run(records), await running_run(records)
    first = await fetched(records, old, objects, "/1")
    second = await fetched(records, young, objects, "/1", body_of=first)
    await deleter(records, objects).delete(old.id)
    clock.advance(400 * DAY)
    chore = retention(records, clock, objects)
    await chore.once()
    clock.advance(BODY_GRACE_MS / 1000)
    await chore.once()
    page = await records.pages.get(second)
    assert page is not None
    assert page.body_of == first
    holder = await records.pages.get(first)
    assert holder is not None
    assert await objects.get_range(holder.segment, holder.start, holder.length) == b"x"
    assert await records.pages.bodiless() == []
    assert await dangling(peek) == []


async def test_a_run_in_use_is_not_deleted(records: Records, objects: Objects):
    run = await running_run(records)
    with pytest.raises(Conflict, match=f"run {run.id} cannot be deleted: it is running; stop it first"):
        await deleter(records, objects).delete(run.id)
    standing = await records.runs.ensure(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}"))
    with pytest.raises(Conflict, match="standing run"):
        await deleter(records, objects).delete(standing.id)
    assert {one.id for one in await records.runs.find()} == {run.id, standing.id}


async def test_a_run_waits_for_its_sinks_unless_the_deletion_is_forced(records: Records, peek: Peek, objects: Objects):
    run = await running_run(records)
    await visit(records, run, {"/1": [("thing", {"size": 1})]})
    sink = await records.sinks.register(SinkAddress.parse("https://sink.example/hook"))
    with pytest.raises(Conflict, match="a sink has not got all its items yet"):
        await deleter(records, objects).delete(run.id)
    await deleter(records, objects).delete((await running_and_done(records)).id)
    other = await running_run(records)
    await visit(records, other, {"/1": [("thing", {"size": 2})]})
    assert not await deleter(records, objects).mark(other.id), "not assigned to the sink yet"
    await records.sink_runs.assign_new()
    lease = await records.sinks.claim(sink.id, ME, 1000)
    assert lease is not None
    await records.sinks.advance(lease, other.id, 1, 1)
    await deleter(records, objects).delete(other.id)
    await deleter(records, objects).delete(run.id, forced=True)
    assert await records.runs.find() == []
    assert await dangling(peek) == []


async def running_and_done(records: Records) -> RunRow:
    run = await running_run(records)
    await admit(records, url(run, "b.example"))
    await report(records, host_report((await claim(records))["b.example"]))
    return await get_run(records, run.id)


async def test_a_kill_between_two_pieces_loses_nothing(
    records: Records, peek: Peek, objects: Objects, clock: FakeClock
):
    run = await running_run(records)
    await fetched(records, run, objects, *(f"/{n}" for n in range(5)))
    assert await deleter(records, objects).mark(run.id)
    await records.retention.delete_piece(run.id, 2)
    assert await peek.value("SELECT COUNT(*) FROM tasks") == 3
    assert await records.runs.get(run.id) is None, "a marked run is in no list"
    assert await dangling(peek) == []
    task = await peek.value("SELECT MAX(id) FROM tasks")
    with pytest.raises(NotFound):
        await records.moves.apply(Change("task", task, "restart", "completed", "pending", "person"))
    assert await retention(records, clock, objects).once() == 1
    assert await peek.value("SELECT COUNT(*) FROM tasks") == await peek.value("SELECT COUNT(*) FROM runs") == 0


async def test_runs_of_the_platform_are_deleted_earlier_than_crawls(
    records: Records, clock: FakeClock, objects: Objects
):
    for kind in (RunKind.CRAWL, RunKind.FEED_POLL, RunKind.REPAIR):
        run = await records.runs.add(NewRun(new_id(), kind, "{}"))
        await records.moves.apply(Change("run", run.id, "cancel", run.state, "cancelled", "person"))
    chore = retention(records, clock, objects)
    clock.advance(6 * DAY)
    assert await chore.once() == 0
    clock.advance(2 * DAY)
    assert await chore.once() == 1
    clock.advance(1000 * DAY)
    assert await chore.once() == 0
    assert {run.kind for run in await records.runs.find()} == {RunKind.CRAWL, RunKind.REPAIR}
    assert await retention(records, clock, objects, replace(AGES, crawls_ms=DAY_MS)).once() == 1
    assert {run.kind for run in await records.runs.find()} == {RunKind.REPAIR}


async def test_ended_urls_of_the_standing_frontier_are_deleted_and_the_sums_stay(
    records: Records, peek: Peek, clock: FakeClock, objects: Objects
):
    run = await records.runs.ensure(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}"))
    await admit(records, url(run, path="/done", scope=0))
    [lease] = (await claim(records)).values()
    await report(records, host_report(lease, [replace(ended(t), at=clock.now()) for t in lease.tasks]))
    await admit(records, url(run, path="/waits", scope=0))
    chore = retention(records, clock, objects)
    clock.advance(89 * DAY)
    await chore.once()
    assert await peek.value("SELECT COUNT(*) FROM tasks") == 2
    clock.advance(2 * DAY)
    await chore.once()
    assert [task.url for task in await records.tasks.find()] == ["https://a.example/waits"]
    after = await get_run(records, run.id)
    assert (after.admitted, after.open, after.completed) == (2, 1, 1)
    assert await records.tasks.counts() == {"open": 1, "completed": 1, "failed": 0, "cancelled": 0, "skipped": 0}
    counts = await peek.rows("SELECT rest, count FROM standing_counts WHERE count <> 0")
    assert counts == [("waiting", 1)]


async def test_events_are_deleted_by_age(records: Records, peek: Peek, clock: FakeClock, objects: Objects):
    await running_run(records)
    clock.advance(29 * DAY)
    await running_run(records)
    chore = retention(records, clock, objects)
    await chore.once()
    assert await peek.value("SELECT COUNT(*) FROM events") == 4
    clock.advance(2 * DAY)
    await chore.once()
    assert await peek.value("SELECT COUNT(*) FROM events") == 2


async def note_health(records: Records) -> None:
    for effect in await records.run_effects.take(tuple(RunEffectKind), 100, 1000):
        assert await records.run_effects.note_health(effect)


async def test_a_run_of_a_running_schedule_is_kept(records: Records, clock: FakeClock, objects: Objects):
    row = await schedule(records, interval_ms=60_000, due=clock.now())
    one = scheduler(records, clock)
    await one.poll()
    clock.advance(40 * DAY)
    assert await retention(records, clock, objects).once() == 0
    await work(records)
    await one.follow()
    await note_health(records)
    clock.advance(1)
    assert await retention(records, clock, objects).once() == 0, "the run has just ended"
    clock.advance(31 * DAY)
    assert await retention(records, clock, objects).once() == 1
    assert await records.history.find(row.id) == []
    assert await records.runs.find() == []


async def test_decisions_are_deleted_with_the_runs_of_their_time(
    records: Records, clock: FakeClock, objects: Objects, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longline.drivers.records.discovery.candidates.BATCH_SIZE", 2)
    for number in range(5):
        await records.candidates.note([Decision("a.example", f"https://a.example/{number}", "find", "why", 1)])
    clock.advance(29 * DAY)
    await records.candidates.note([Decision("a.example", "https://a.example/new", "find", "why", 1)])
    chore = retention(records, clock, objects)
    await chore.once()
    assert len(await records.candidates.decisions("a.example", 10)) == 6
    clock.advance(2 * DAY)
    await chore.once()
    assert [one.url for one in await records.candidates.decisions("a.example", 10)] == ["https://a.example/new"]


async def test_of_several_processes_one_deletes_each_run(records: Records, clock: FakeClock, objects: Objects):
    for number in range(20):
        await schedule(records, f"s{number}", interval_ms=60_000, due=clock.now())
    one = scheduler(records, clock)
    await one.poll()
    await work(records)
    await one.follow()
    await note_health(records)
    clock.advance(31 * DAY)
    deleted = await asyncio.gather(*(retention(records, clock, objects).once() for _ in range(4)))
    assert sum(deleted) == 20
    assert await records.runs.find() == []


def test_every_reference_of_the_schema_is_found():
    found = {(one.table, one.column) for one in references()}
    assert {("pages", "body_of"), ("visits", "task_id"), ("fates", "run_id"), ("sink_positions", "run_id")} <= found
