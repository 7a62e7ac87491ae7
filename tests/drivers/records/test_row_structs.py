"""Sources, schedules, runs, tasks, segments, workers and events, on both engines."""

import pytest

from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.schedules.schedule import NewSchedule
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.world import ME, YOU, admit, claim, ended, host_report, page, report, running_run, url, urls


async def test_a_source_is_registered_once_by_name(records: Records, clock: FakeClock):
    made = await records.sources.add(NewSource("news", "https://news.example/", config='{"a": 1}'))
    assert made.id >= 100_000
    assert (made.name, made.base_url, made.config, made.enabled) == ("news", "https://news.example/", '{"a": 1}', True)
    assert (made.created_at, made.updated_at) == (clock.now(), clock.now())
    clock.advance(1)
    assert await records.sources.add(NewSource("news", "https://other.example/")) == made
    assert await records.sources.get(made.id) == made
    assert await records.sources.get(made.id + 1) is None


async def test_sources_are_listed_by_name_and_page(records: Records):
    for name in ("c", "a", "b"):
        await records.sources.add(NewSource(name, f"https://{name}.example/"))
    assert [s.name for s in await records.sources.find()] == ["a", "b", "c"]
    assert [s.name for s in await records.sources.find(limit=1, offset=1)] == ["b"]


async def test_a_new_schedule_is_scheduled_or_pending(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("news", "https://news.example/"))
    again = NewSchedule(new_id(), "https://news.example/", source.id, interval_ms=60_000, next_due=5)
    once = NewSchedule(new_id(), "https://once.example/")
    first, second = await records.schedules.add(again), await records.schedules.add(once)
    assert (first.uid, first.source_id, first.url, first.state) == (again.uid, source.id, again.url, "scheduled")
    assert (first.interval_ms, first.next_due, first.created_at) == (60_000, 5, clock.now())
    assert (first.owner, first.token, first.lease_until) == (None, 0, None)
    assert (second.state, second.interval_ms) == ("pending", None)
    assert await records.schedules.find() == [second, first]
    assert await records.schedules.find(limit=1, offset=1) == [first]
    assert await records.schedules.get(first.id) == first
    assert await records.schedules.get(second.id + 1) is None


async def test_a_new_run_is_queued_and_empty(records: Records, clock: FakeClock):
    made = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, '{"depth": 2}', "https://a.example/", budget=9))
    assert made.state == "queued"
    assert made.kind == "crawl"
    assert made.plan == '{"depth": 2}'
    assert made.seed == "https://a.example/"
    assert made.budget == 9
    assert (made.admitted, made.open, made.created_at, made.started_at) == (0, 0, clock.now(), None)
    assert await records.runs.get(made.id) == made
    assert await records.runs.get(made.id + 1) is None
    assert await records.runs.fates(made.id) == []


async def test_runs_are_listed_newest_first_and_counted_by_state(records: Records):
    made = [await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", f"seed {i % 2}")) for i in range(4)]
    started = await running_run(records)
    assert [r.id for r in await records.runs.find()] == [started.id, *(r.id for r in reversed(made))]
    assert [r.id for r in await records.runs.find(limit=2, offset=1)] == [made[3].id, made[2].id]
    latest = await records.runs.latest(RunKind.CRAWL, "seed 0")
    assert latest is not None
    assert latest.id == made[2].id
    assert await records.runs.latest(RunKind.CRAWL, "seed 9") is None
    assert await records.runs.latest(RunKind.REPAIR, "seed 0") is None
    assert await records.runs.counts() == {"queued": 4, "running": 1}


async def test_tasks_are_listed_in_the_order_of_admission(records: Records):
    one, two = await running_run(records), await running_run(records)
    for i in range(3):
        await admit(records, url(one, path=f"/{i}"), url(two, path=f"/{i}"))
    every = await records.tasks.find()
    assert [t.id for t in every] == sorted(t.id for t in every)
    of_one = await records.tasks.find(run_id=one.id)
    assert [t.url[-2:] for t in of_one] == ["/0", "/1", "/2"]
    assert [t.url[-2:] for t in await records.tasks.find(run_id=one.id, after=of_one[0].id, limit=1)] == ["/1"]
    assert [t.id for t in await records.tasks.find(after=every[3].id)] == [t.id for t in every[4:]]
    assert await records.tasks.get(every[0].id) == every[0]
    assert await records.tasks.get(every[-1].id + 1) is None
    assert await records.pages.get(every[0].id) is None


async def test_a_url_is_known_in_the_scope_that_it_was_admitted_to(records: Records):
    one, two = await running_run(records), await running_run(records)
    task = url(one, path="/1")
    await admit(records, task, url(two, path="/2"))
    assert await records.tasks.is_known(one.id, task.host, task.key)
    assert not await records.tasks.is_known(two.id, task.host, task.key)
    assert not await records.tasks.is_known(one.id, "b.example", task.key)
    assert not await records.tasks.is_known(one.id, task.host, url(two, path="/2").key)


async def test_an_empty_platform_has_counts_of_zero(records: Records):
    assert await records.tasks.counts() == {"open": 0, "completed": 0, "failed": 0, "cancelled": 0, "skipped": 0}
    assert await records.runs.counts() == {}
    assert await records.events.find() == []


async def test_segments_are_found_after_their_report(records: Records):
    run, other = await running_run(records), await running_run(records)
    await admit(records, *urls(run, "a.example", 2), url(other, "b.example"))
    leases = await claim(records)
    first, second = await records.segments.begin("first", ME), await records.segments.begin("second", YOU)
    third = await records.segments.begin("third", ME)
    assert [s.id for s in await records.segments.abandoned([ME])] == [first, third]
    assert {s.key for s in await records.segments.abandoned([ME, YOU])} == {"first", "third", "second"}
    assert await records.segments.abandoned([]) == []
    a, b = leases["a.example"], leases["b.example"]
    await report(
        records, host_report(a, [ended(t, page=page()) for t in a.tasks]), segment=WrittenSegment(first, 2, 20)
    )
    await report(
        records, host_report(b, [ended(t, page=page()) for t in b.tasks]), segment=WrittenSegment(second, 1, 10)
    )
    assert [s.id for s in await records.segments.find()] == [first, second]
    assert [s.id for s in await records.segments.find(run_id=other.id)] == [second]
    await records.segments.drop(first)
    assert [s.id for s in await records.segments.find()] == [first, second], "a segment that rows name is not dropped"
    await records.segments.drop(third)
    assert await records.segments.abandoned([ME, YOU]) == []


async def test_the_key_of_a_segment_is_unique(records: Records):
    await records.segments.begin("key", ME)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await records.segments.begin("key", YOU)


async def test_workers_join_beat_and_leave(records: Records, clock: FakeClock):
    one = await records.workers.join("one", "fetch,parse", "marks/one")
    clock.advance(5)
    two = await records.workers.join("two", "upkeep", "")
    assert one.id != two.id
    assert (one.name, one.roles, one.mark) == ("one", "fetch,parse", "marks/one")
    assert (one.started_at, two.started_at - one.started_at) == (one.seen_at, 5_000)
    clock.advance(5)
    await records.workers.beat(one)
    assert [(w.id, w.seen_at) for w in await records.workers.find()] == [(one.id, clock.now()), (two.id, two.seen_at)]
    await records.workers.remove(one.id)
    assert await records.workers.find() == [two]


async def test_the_id_of_a_removed_worker_is_not_used_again(records: Records):
    one = await records.workers.join("one", "fetch", "")
    await records.workers.remove(one.id)
    assert (await records.workers.join("two", "fetch", "")).id > one.id, "the new worker would get the old leases"


async def test_events_are_read_after_an_id(records: Records):
    for _ in range(5):
        await running_run(records)
    events = await records.events.find()
    assert [e.move for e in events] == ["create", "start"] * 5
    assert await records.events.find(after=events[1].id, limit=2) == events[2:4]
    assert await records.events.find(after=events[-1].id) == []
