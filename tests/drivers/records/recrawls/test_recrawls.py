"""Recrawls: submitted once, listed by state, fetched again by the next generation."""

import asyncio

import pytest
from msgspec.structs import replace

from longline.drivers.records import open_database
from longline.drivers.records.recrawls.recrawls import RecrawlRecords
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.model.recrawls.recrawl_lists import PHASES, QueueDepths, RecrawlQuery, RecrawlRow, SortField
from longline.model.states import TaskState, move
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import TaskChange
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.gates import Gate, GatedDatabase
from tests.drivers.records.peek import Peek
from tests.drivers.records.recrawls.world import DAY_MS, HOST, recrawl, shop, submit, submit_one
from tests.drivers.records.world import ME, TTL, claim, claim_one, ended, host_report, report

FAILURE = {"became": TaskState.PENDING, "reason": "http_5xx"}


def change(name: str, **more: object) -> TaskChange:
    """Return a move by a person."""
    rule = move("task", name)
    return TaskChange(name, rule.was, rule.became, "person", **more)  # type: ignore[arg-type]


async def get(records: Records, task_id: int) -> RecrawlRow:
    """Return a recrawl, which must exist."""
    row = await records.recrawls.get(task_id)
    assert row is not None
    return row


async def fetch_all(records: Records, became: TaskState = TaskState.COMPLETED, reason: str = "ok") -> None:
    """Let a worker fetch every due task."""
    for lease in (await claim(records)).values():
        outcomes = [replace(ended(task, became, reason, began_at=5), at=lease.until - TTL) for task in lease.tasks]
        await report(records, host_report(lease, outcomes))


async def test_a_url_is_submitted_once_in_all_its_spellings(records: Records, peek: Peek, clock: FakeClock):
    run = await shop(records)
    first = await submit(records, recrawl(run, "/a"), recrawl(run, "/b"), recrawl(run, "/a"))
    assert (len(first.ids), first.repeated, first.known) == (2, 1, ())
    rows = await peek.rows("SELECT * FROM tasks ORDER BY id"), await peek.rows("SELECT * FROM recrawls ORDER BY id")
    again = await submit(records, recrawl(run, "/a"), recrawl(run, "/b"))
    assert again.ids == {}
    assert {one.id for one in again.known} == set(first.ids.values())
    assert (
        await peek.rows("SELECT * FROM tasks ORDER BY id"),
        await peek.rows("SELECT * FROM recrawls ORDER BY id"),
    ) == rows
    assert await records.recrawls.counts() == {"pending": 2}
    assert await faults(peek, clock.now()) == []


async def test_a_recrawl_shows_every_phase(records: Records, clock: FakeClock):
    run = await shop(records)
    later = await submit_one(records, recrawl(run, "/later", due_at=clock.now() + 60_000))
    assert (await get(records, later)).phase == "waiting"
    clock.advance(60)
    assert (await get(records, later)).phase == "ready"
    lease = await claim_one(records, HOST)
    assert (await get(records, later)).phase == "in_hand"
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.QUEUED_PARSE)]))
    assert (await get(records, later)).phase == "queued_parse"
    [taken] = await records.hands.take("parse", ME, 1, 30_000)
    assert (await get(records, later)).phase == "parsing"
    assert taken.task.id == later


async def test_failures_are_counted_as_retries_and_a_restart_begins_anew(records: Records, clock: FakeClock):
    run = await shop(records)
    task_id = await submit_one(records, recrawl(run))
    for attempt in (1, 2, 3):
        lease = await claim_one(records, HOST)
        due = clock.now() + 60_000 * 2 ** (attempt - 1)
        await report(records, host_report(lease, [ended(lease.tasks[0], **FAILURE, due=due, error="no")]))  # type: ignore[arg-type]
        row = await get(records, task_id)
        assert (row.retries, row.due_at, row.phase, row.error) == (attempt, due, "waiting", "no")
        clock.advance(60 * 2 ** (attempt - 1))
    lease = await claim_one(records, HOST)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.FAILED, "http_5xx", began_at=7)]))
    row = await get(records, task_id)
    assert (row.retries, row.phase, row.ended_at, row.started_at, row.next_at) == (3, "failed", clock.now(), 7, None)
    assert await records.recrawls.failed(source_id=None, failed_after=None, limit=9) == [task_id]
    await records.task_moves.move_all(change("restart"), [task_id])
    row = await get(records, task_id)
    assert (row.retries, row.phase, row.ended_at, row.started_at, row.error) == (0, "ready", 0, None, None)


async def test_pause_and_resume_keep_retries_and_a_move_writes_the_side_row(
    records: Records, peek: Peek, clock: FakeClock
):
    run = await shop(records)
    task_id = await submit_one(records, recrawl(run))
    lease = await claim_one(records, HOST)
    await report(records, host_report(lease, [ended(lease.tasks[0], **FAILURE, due=clock.now() + 9)]))  # type: ignore[arg-type]
    await records.task_moves.move_all(change("pause"), [task_id])
    assert ((await get(records, task_id)).phase, await records.recrawls.counts()) == ("paused", {"paused": 1})
    clock.advance(5)
    await records.task_moves.move_all(change("resume"), [task_id])
    row = await get(records, task_id)
    assert (row.phase, row.retries, row.due_at) == ("ready", 1, clock.now())
    await records.task_moves.prioritize({task_id: 100})
    assert (await get(records, task_id)).priority == 100
    await records.task_moves.move_all(change("cancel"), [task_id])
    assert ((await get(records, task_id)).phase, await records.recrawls.counts()) == ("cancelled", {"cancelled": 1})
    assert await faults(peek, clock.now()) == []


async def test_a_completed_recrawl_has_one_successor_for_each_interval(records: Records, peek: Peek, clock: FakeClock):
    run = await shop(records)
    await submit(records, recrawl(run, "/often"), recrawl(run, "/once", recurring=False))
    await fetch_all(records)
    for generation in range(1, 6):
        assert await records.generations.succeed(100) == 0
        clock.advance(DAY_MS / 1000)
        assert [await records.generations.succeed(100), await records.generations.succeed(100)] == [1, 0]
        await fetch_all(records)
        rows = await peek.rows("SELECT generation FROM recrawls WHERE recurring ORDER BY id")
        assert [row[0] for row in rows] == list(range(generation + 1))
    assert await faults(peek, clock.now()) == []


async def test_the_head_that_is_due_first_has_its_successor_first(records: Records, peek: Peek, clock: FakeClock):
    run = await shop(records)
    for path, frequency in (("/later", "2 days"), ("/soon", "1 day")):
        await submit_one(records, recrawl(run, path, frequency=frequency))
    await fetch_all(records)
    clock.advance(3 * DAY_MS / 1000)
    assert await records.generations.succeed(1) == 1
    assert await peek.rows("SELECT url FROM recrawls WHERE generation = 1") == [(f"https://{HOST}/soon",)]


async def test_a_cancelled_or_failed_head_ends_its_chain_until_it_is_restarted(records: Records, clock: FakeClock):
    run = await shop(records)
    cancelled = await submit_one(records, recrawl(run, "/a"))
    await fetch_all(records)
    await records.task_moves.move_all(change("cancel"), [cancelled])
    clock.advance(3 * DAY_MS / 1000)
    failed = await submit_one(records, recrawl(run, "/b"))
    await fetch_all(records, TaskState.FAILED, "http_4xx")
    clock.advance(3 * DAY_MS / 1000)
    assert await records.generations.succeed(100) == 0
    await records.task_moves.move_all(change("restart"), [failed])
    await fetch_all(records)
    clock.advance(DAY_MS / 1000)
    assert await records.generations.succeed(100) == 1


async def test_a_child_sleeps_until_its_parent_has_completed(records: Records, peek: Peek, clock: FakeClock):
    run = await shop(records)
    parent = await submit_one(records, recrawl(run, "/parent"))
    child = await submit_one(records, recrawl(run, "/child", parent_id=parent, depth=1))
    assert (await get(records, child)).phase == "waiting"
    assert await peek.rows(f"SELECT due FROM queue WHERE id = {child}") == [(NEVER_DUE_MS,)]
    assert await records.generations.calls(9) == []
    await fetch_all(records)
    assert await records.generations.calls(9) == [(parent, "completed")]
    assert await records.generations.children(parent, 9) == [child]
    assert await records.generations.wake([child]) == 1
    await records.generations.answered(parent)
    assert await records.generations.calls(9) == []
    assert (await get(records, child)).phase == "ready"
    assert await faults(peek, clock.now()) == []
    await fetch_all(records)
    assert (await get(records, child)).phase == "completed"


@pytest.mark.parametrize(
    "sort", ["id", "created_at", "updated_at", "due_at", "ended_at", "priority", "phase", "retries"]
)
@pytest.mark.parametrize("falling", [False, True])
async def test_lists_are_sorted_by_every_field_and_come_page_by_page(
    records: Records, clock: FakeClock, sort: SortField, *, falling: bool
):
    run = await shop(records)
    for number in range(6):
        clock.advance(1)
        await submit(
            records, recrawl(run, f"/{number}", priority=100 * (number % 3), due_at=clock.now() + 500 * number)
        )
    lease = next(iter((await claim(records, tasks=2)).values()))
    await report(records, host_report(lease, [ended(lease.tasks[0]), ended(lease.tasks[1], TaskState.FAILED, "dns")]))
    query = RecrawlQuery(sort=sort, falling=falling)
    whole = (await records.recrawls.find(query, limit=10)).rows
    pages = [
        row.id for offset in (0, 2, 4) for row in (await records.recrawls.find(query, limit=2, offset=offset)).rows
    ]
    assert pages == [row.id for row in whole]
    keys = [(PHASES.index(row.phase) if sort == "phase" else getattr(row, sort), row.id) for row in whole]
    assert keys == sorted(keys, reverse=falling)


async def test_lists_are_filtered_and_their_totals_are_exact_where_counts_are_kept(records: Records, clock: FakeClock):
    run, other = await shop(records), await shop(records, "other.example")
    batch = await records.batches.add("autumn")
    begun = clock.now()
    await submit(records, recrawl(run, "/1", priority=100, batch_id=batch.id), recrawl(run, "/2", recurring=False))
    clock.advance(10)
    await submit(records, recrawl(other, "/3", host="other.example", created_by="api"))
    filters: list[tuple[dict[str, object], int]] = [
        ({}, 3),
        ({"source_id": other.source_id}, 1),
        ({"phase": "ready"}, 3),
        ({"phase": "completed"}, 0),
        ({"phase": "in_hand"}, 0),
        ({"priority_max": 100}, 1),
        ({"priority_min": 101, "priority_max": 500}, 2),
        ({"created_after": begun + 1}, 1),
        ({"created_before": begun}, 2),
        ({"recurring": False}, 1),
        ({"recurring": True}, 2),
        ({"batch_id": batch.id}, 1),
        ({"created_by": "api"}, 1),
    ]
    for wanted, total in filters:
        page = await records.recrawls.find(RecrawlQuery(**wanted), limit=10)  # type: ignore[arg-type]
        assert (len(page.rows), page.total, page.is_bounded) == (total, total, False), wanted
    found = await records.batches.get(batch.id)
    assert found is not None
    assert (found.total, found.counts) == (1, {"ready": 1})
    stats = await records.recrawls.stats(begun)
    assert (stats.total, stats.by_phase, stats.later_generations) == (3, {"ready": 3}, 0)
    depths = await records.recrawls.depths(200)
    assert (depths.urgent_ready, depths.ready, depths.in_hand) == (1, 2, 0)


async def test_the_bounds_of_filters_are_inclusive(records: Records, clock: FakeClock):
    run = await shop(records)
    task_id = await submit_one(records, recrawl(run))
    made = clock.now()
    asked = [
        (RecrawlQuery(created_after=made), 1),
        (RecrawlQuery(created_after=made + 1), 0),
        (RecrawlQuery(created_before=made), 1),
        (RecrawlQuery(created_before=made - 1), 0),
        (RecrawlQuery(priority_min=500), 1),
        (RecrawlQuery(priority_min=501), 0),
        (RecrawlQuery(priority_max=500), 1),
        (RecrawlQuery(priority_max=499), 0),
    ]
    for query, count in asked:
        assert (await records.recrawls.find(query, limit=9)).total == count, query
    assert [(await records.recrawls.stats(since)).total for since in (made, made + 1)] == [1, 0]
    clock.advance(1)
    await fetch_all(records, TaskState.FAILED, "http_4xx")
    for at, wanted in ((clock.now(), [task_id]), (clock.now() + 1, [])):
        assert await records.recrawls.failed(source_id=None, failed_after=at, limit=9) == wanted


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_depths_are_never_negative_during_concurrent_claims(records: Records, records_url: str, clock: FakeClock):
    run, database, gate = await shop(records), await open_database(records_url, clock), Gate("recrawls_in_hand")
    asked = asyncio.create_task(RecrawlRecords(GatedDatabase(database, gate)).depths(200))
    await gate.reached.wait()
    await submit(records, recrawl(run, "/a"), recrawl(run, "/b", priority=100))
    await claim_one(records, HOST)
    gate.open.set()
    assert await asked == QueueDepths(urgent_ready=0, urgent_in_hand=1, ready=0, in_hand=1, offered=0, parsing=0)
    await database.close()
