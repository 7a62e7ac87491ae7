"""The report on both engines: all or nothing, under the lease, with every sum in the same transaction."""

import orjson
import pytest
from msgspec import structs

from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import ClaimedTask, KnownPage, Outcome, RenamedUrl
from longline.model.runs.run import Fate
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, Change, ReportBatch, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    DELAY,
    ME,
    TTL,
    YOU,
    admit,
    claim,
    claim_one,
    ended,
    get_run,
    host_report,
    page,
    page_of,
    release,
    report,
    running_run,
    url,
    urls,
)


async def test_every_fate_is_counted_once_with_its_reason(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 6))
    lease = await claim_one(records)
    t = lease.tasks
    outcomes = [
        ended(t[0], TaskState.COMPLETED, "ok", status=200),
        ended(t[1], TaskState.COMPLETED, "ok", status=200),
        ended(t[2], TaskState.FAILED, "http_4xx", status=404, error="not there"),
        ended(t[3], TaskState.SKIPPED, "robots"),
        ended(t[4], TaskState.PENDING, "http_5xx", status=503, due=clock.now() + 9_000),
        ended(t[5], TaskState.DOWNLOADED, "ok", status=200),
    ]
    reported = await report(records, host_report(lease, outcomes))
    assert (reported.refused, reported.ended_runs) == (False, ())
    row = await get_run(records, run.id)
    assert row.admitted == 6
    assert row.open == 2
    assert row.completed == 2
    assert row.failed == 1
    assert row.cancelled == 0
    assert row.skipped == 1
    assert await records.runs.fates(run.id) == [
        Fate("completed", "ok", 2),
        Fate("failed", "http_4xx", 1),
        Fate("skipped", "robots", 1),
    ]
    tasks = {task.id: task for task in await records.tasks.find()}
    shown = [(tasks[i.id].state, tasks[i.id].reason, tasks[i.id].status) for i in t]
    assert shown == [
        ("completed", "ok", 200),
        ("completed", "ok", 200),
        ("failed", "http_4xx", 404),
        ("skipped", "robots", None),
        ("pending", "http_5xx", 503),
        ("downloaded", "ok", 200),
    ]
    assert tasks[t[2].id].error == "not there"
    assert [tasks[i.id].finished_at for i in t] == [1, 1, 1, 1, None, None]
    assert await records.tasks.counts() == {"open": 2, "completed": 2, "failed": 1, "cancelled": 0, "skipped": 1}


async def test_the_event_lists_every_move_of_the_batch(records: Records, clock: FakeClock):
    run, other = await running_run(records), await running_run(records)
    await admit(records, url(run, path="/1"), url(run, path="/2"), url(other, path="/3"))
    start = max(e.id for e in await records.events.find())
    lease = await claim_one(records)
    one, two = (t for t in lease.tasks if t.run_id == run.id)
    (three,) = (t for t in lease.tasks if t.run_id == other.id)
    await report(records, host_report(lease, [ended(one), ended(three), ended(two, TaskState.PENDING, "dns")]))
    events = [e for e in await records.events.find(after=start) if e.move == "report"]
    assert {(e.noun, e.subject, e.actor, e.at) for e in events} == {
        ("run", run.id, "worker", clock.now()),
        ("run", other.id, "worker", clock.now()),
    }
    moves = {e.subject: orjson.loads(e.moves or "") for e in events}
    assert moves[other.id] == [[three.id, "pending", "completed", "ok"]]
    assert moves[run.id] == [[one.id, "pending", "completed", "ok"], [two.id, "pending", "pending", "dns"]]


async def test_a_retry_waits_until_it_is_due(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    again = ended(lease.tasks[0], TaskState.PENDING, "http_5xx", due=clock.now() + 5_000)
    await report(records, host_report(lease, [again]))
    assert await claim(records) == {}
    clock.advance(4.999)
    assert await claim(records) == {}
    clock.advance(0.001)
    lease = await claim_one(records)
    assert [(t.attempt, t.due) for t in lease.tasks] == [(2, clock.now())]
    assert not (await report(records, host_report(lease))).refused
    assert (await get_run(records, run.id)).completed == 1


async def test_a_retry_under_a_lease_that_goes_on_is_found_by_the_release(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.PENDING, "dns")], release=False))
    await report(records, host_report(lease, [ended(lease.tasks[1])]))
    assert [t.attempt for t in (await claim_one(records)).tasks] == [2]


async def test_a_lease_goes_on_over_several_reports(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    lease = await claim_one(records)
    for task in lease.tasks[:2]:
        assert not (await report(records, host_report(lease, [ended(task)], release=False))).refused
    assert await claim(records, owner=YOU) == {}
    assert not (await report(records, host_report(lease, [ended(lease.tasks[2])]))).refused
    assert (await get_run(records, run.id)).completed == 3


@pytest.mark.parametrize("waits", [TaskState.DOWNLOADED, TaskState.QUEUED_PARSE])
async def test_a_downloaded_page_is_offered_to_parsers(records: Records, peek: Peek, waits: TaskState):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    assert not (await report(records, host_report(lease, [ended(lease.tasks[0], waits)]))).refused
    assert await peek.rows("SELECT * FROM queue") == []
    assert await peek.value("SELECT state FROM tasks") == waits
    (taken,) = await records.hands.take("parse", ME, 10, TTL)
    assert (taken.task.id, taken.task.attempt) == (lease.tasks[0].id, 1)


async def test_pages_and_their_segment_are_stored_with_the_report(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    segment = await records.segments.begin("segments/1.warc.gz", ME)
    assert await records.segments.find() == []
    lease = await claim_one(records)
    outcomes = [ended(t, page=page(n * 100, f"page {n}")) for n, t in enumerate(lease.tasks)]
    await report(records, host_report(lease, outcomes), segment=WrittenSegment(segment, 2, 200))
    (stored,) = await records.segments.find(run_id=run.id)
    assert (stored.id, stored.state, stored.records, stored.bytes) == (segment, "stored", 2, 200)
    assert await page_of(records, lease.tasks[1].id) == ("segments/1.warc.gz", page(100, "page 1"))
    assert await records.segments.abandoned([ME]) == []


async def test_a_page_fetched_again_replaces_the_first(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    first = await records.segments.begin("first", ME)
    outcome = ended(lease.tasks[0], page=page(0, "old"))
    await report(
        records, host_report(lease, [outcome], unstarted=lease.tasks[1:]), segment=WrittenSegment(first, 1, 10)
    )
    await records.moves.apply(Change("task", lease.tasks[0].id, "restart", "completed", "pending", "person"))
    lease = await claim_one(records)
    second = await records.segments.begin("second", ME)
    await report(
        records, host_report(lease, [ended(lease.tasks[0], page=page(7, "new"))]), segment=WrittenSegment(second, 1, 9)
    )
    assert await page_of(records, lease.tasks[0].id) == ("second", page(7, "new"))


async def test_a_segment_that_was_dropped_meanwhile_refuses_the_report(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    segment = await records.segments.begin("gone", ME)
    await records.segments.drop(segment)
    before = await peek.snapshot()
    outcome = ended(lease.tasks[0], page=page())
    reported = await report(records, host_report(lease, [outcome]), segment=WrittenSegment(segment, 1, 10))
    assert reported.gone == {lease.tasks[0].id}
    assert await peek.snapshot() == before


async def test_a_segment_cannot_be_stored_twice(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    one, two = lease.tasks
    segment = await records.segments.begin("one", ME)
    written = WrittenSegment(segment, 1, 10)
    await report(records, host_report(lease, [ended(one, page=page())], release=False), segment=written)
    before = await peek.snapshot()
    reported = await report(records, host_report(lease, [ended(two, page=page())]), segment=written)
    assert reported.gone == {two.id}
    assert await peek.snapshot() == before


async def test_pages_need_a_segment_and_a_segment_needs_pages(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    segment = await records.segments.begin("empty", ME)
    before = await peek.snapshot()
    with pytest.raises(ValueError, match="pages need a segment"):
        await report(records, host_report(lease, [ended(lease.tasks[0], page=page())]))
    with pytest.raises(ValueError, match="a segment needs pages"):
        await report(records, host_report(lease), segment=WrittenSegment(segment, 0, 0))
    assert await peek.snapshot() == before


async def test_a_stale_token_refuses_a_whole_report_and_changes_nothing(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2), *urls(run, "b.example", 2))
    leases = await claim(records)
    stale, fresh = leases["a.example"], leases["b.example"]
    clock.advance(TTL / 1000 + 1)
    await records.frontier.renew(ME, [(fresh.host_id, fresh.token)], TTL)
    assert fresh.host_id not in await records.frontier.reap(1)
    segment = await records.segments.begin("s", ME)
    before = await peek.snapshot()
    reported = await records.frontier.report(
        ReportBatch(
            reports=[
                host_report(fresh, [ended(t, page=page()) for t in fresh.tasks]),
                host_report(stale, unstarted=stale.tasks[1:], not_before=clock.now() + 1_000_000),
            ],
            admit=[url(run, "b.example", "/found")],
            refused={(run.id, "offsite"): 5},
            segment=WrittenSegment(segment, 2, 20),
        )
    )
    assert (set(reported.stale), reported.admitted) == ({stale.host_id}, Admitted(0, 0, 0))
    assert await peek.snapshot() == before
    assert not (await report(records, host_report(fresh))).refused, "without the stale part the report is accepted"


@pytest.mark.parametrize("moved", ["released", "reaped", "disowned", "claimed anew"])
async def test_a_token_is_stale_after_its_lease_changed(records: Records, clock: FakeClock, peek: Peek, moved: str):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    if moved == "disowned":
        await records.frontier.release_all(ME)
    elif moved == "released":
        await release(records, lease)
    else:
        clock.advance(TTL / 1000 + 1)
        await records.frontier.reap(10)
    if moved == "claimed anew":
        clock.advance(100)
        await claim_one(records, owner=ME)
    before = await peek.snapshot()
    assert (await report(records, host_report(lease))).stale == {lease.host_id}
    assert (await report(records, host_report(lease, [], unstarted=lease.tasks))).stale == {lease.host_id}
    assert (await report(records, host_report(lease, []))).stale == {lease.host_id}
    assert await records.frontier.renew(ME, [(lease.host_id, lease.token)], TTL) == set()
    assert await peek.snapshot() == before


async def test_a_host_that_never_existed_is_stale(records: Records, peek: Peek):
    before = await peek.snapshot()
    assert (await report(records, HostReport(4711, 1, release=True))).stale == {4711}
    assert await peek.snapshot() == before


@pytest.mark.parametrize(
    ("move", "became"),
    [("pause", "paused"), ("cancel", "cancelled"), ("restart", "pending"), ("reparse", "downloaded")],
)
async def test_a_task_that_a_person_moved_refuses_the_report(records: Records, peek: Peek, move: str, became: str):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    gone, fine = lease.tasks
    assert await records.moves.apply(Change("task", gone.id, move, "queued", became, "person"))
    before = await peek.snapshot()
    assert (await report(records, host_report(lease))).gone == {gone.id}
    assert await peek.snapshot() == before
    assert not (await report(records, host_report(lease, [ended(fine)]))).refused
    assert await peek.value(f"SELECT state FROM tasks WHERE id = {gone.id}") == became


async def test_a_task_that_was_moved_is_not_given_back(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    await records.moves.apply(Change("task", lease.tasks[0].id, "restart", "queued", "pending", "person"))
    await release(records, lease)
    assert await peek.rows("SELECT attempt, token FROM queue") == [(0, 0), (0, 0)]


async def test_a_task_of_another_host_is_gone(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run, "a.example"), url(run, "b.example"))
    leases = await claim(records)
    a, b = leases["a.example"], leases["b.example"]
    before = await peek.snapshot()
    assert (await report(records, host_report(a, [ended(b.tasks[0])]))).gone == {b.tasks[0].id}
    assert await peek.snapshot() == before


async def test_a_task_reported_twice_in_one_report_is_refused(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    before = await peek.snapshot()
    one, two = lease.tasks
    assert (await report(records, host_report(lease, [ended(one), ended(two), ended(one)]))).gone == {one.id}
    assert await peek.snapshot() == before


async def test_a_task_in_an_unexpected_state_is_gone(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    odd = lease.tasks[0].id
    # None of our moves leaves a task in this state; an edit of rows by hand may.
    await peek.rows(f"UPDATE tasks SET state = 'paused' WHERE id = {odd}")
    before = await peek.snapshot()
    assert (await report(records, host_report(lease))).gone == {odd}
    assert await peek.snapshot() == before


async def test_the_same_report_again_has_no_second_effect(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    lease = await claim_one(records)
    partly = host_report(lease, [ended(lease.tasks[0])], release=False)
    await report(records, partly)
    before = await peek.snapshot()
    assert (await report(records, partly)).gone == {lease.tasks[0].id}
    assert await peek.snapshot() == before


async def wake(peek: Peek) -> int | None:
    found: int | None = await peek.value("SELECT wake_at FROM line")
    return found


async def test_a_release_sets_the_wake_time_by_the_remaining_work(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    now = clock.now()
    await admit(records, url(run, path="/a"), url(run, path="/b"), url(run, path="/c", due=now + 60_000))
    lease = (await claim(records, tasks=1))["a.example"]
    await report(records, host_report(lease, not_before=now + 2_000))
    assert await wake(peek) == now + 2_000, "ready work waits for the host alone"
    clock.advance(2)
    lease = await claim_one(records)
    await report(records, host_report(lease))
    assert await wake(peek) == now + 60_000, "later work wakes the host when it is due"
    clock.advance(60)
    lease = await claim_one(records)
    await report(records, host_report(lease, not_before=now + 99_000))
    assert await wake(peek) is None, "without work there is no wake time"


async def test_a_hosts_not_before_time_is_kept_while_it_is_held(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    later = clock.now() + 3_600_000
    # The host demanded a pause of an hour. The worker reports it, keeps the host, and dies.
    await report(records, host_report(lease, [ended(lease.tasks[0])], release=False, not_before=later))
    clock.advance(TTL / 1000 + 1)
    await records.frontier.reap(10)
    assert await peek.rows("SELECT not_before, wake_at FROM line") == [(later, later)]


async def test_a_hosts_not_before_time_does_not_go_back(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    later = clock.now() + 60_000
    await report(records, host_report(lease, [ended(lease.tasks[0])], release=False, not_before=later))
    await report(records, host_report(lease, [], unstarted=lease.tasks[1:], not_before=0))
    assert await peek.rows("SELECT not_before, wake_at FROM line") == [(later, later)]


async def test_found_urls_wake_their_hosts(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run), url(run, "b.example"), url(run, "c.example"))
    leases = await claim(records)
    await report(records, host_report(leases["b.example"]))
    found = [url(run, h, "/found") for h in ("a.example", "b.example", "c.example")]
    reported = await report(records, host_report(leases["a.example"]), admit=found)
    assert reported.admitted == Admitted(3, 0, 0)
    assert set(await claim(records)) == {"a.example", "b.example"}
    await report(records, host_report(leases["c.example"]))
    assert [t.url for t in (await claim_one(records, "c.example")).tasks] == ["https://c.example/found"]


async def test_urls_found_and_refused_are_counted_with_the_report(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    found = [url(run, path="/0"), url(run, path="/new"), url(run, path="/new")]
    reported = await report(records, host_report(lease), admit=found, refused={(run.id, "depth"): 4})
    assert reported.admitted == Admitted(1, 2, 0)
    fates = {(f.fate, f.reason): f.count for f in await records.runs.fates(run.id)}
    assert fates == {("completed", "ok"): 2, ("refused", "known"): 2, ("refused", "depth"): 4}


async def test_a_run_ends_with_its_last_open_task(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    reported = await report(records, host_report(lease, [ended(lease.tasks[0])], release=False))
    assert reported.ended_runs == ()
    clock.advance(1)
    reported = await report(records, host_report(lease, [ended(lease.tasks[1], TaskState.FAILED, "dns")]))
    assert reported.ended_runs == (run.id,)
    row = await get_run(records, run.id)
    assert (row.state, row.ended_at, row.owner, row.lease_until) == ("completed", clock.now(), None, None)
    (event,) = [e for e in await records.events.find() if e.move == "finish"]
    assert (event.noun, event.subject, event.was, event.became) == ("run", run.id, "running", "completed")
    assert (event.actor, event.at) == ("worker", clock.now())


async def test_a_run_continues_while_its_last_task_brings_more(records: Records):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    reported = await report(records, host_report(lease), admit=[url(run, path="/more")])
    assert reported.ended_runs == ()
    assert (await get_run(records, run.id)).state == "running"


async def test_one_report_may_end_several_runs(records: Records):
    runs = [await running_run(records) for _ in range(3)]
    await admit(records, *(url(run, path=f"/{run.id}") for run in runs))
    lease = await claim_one(records)
    reported = await report(records, host_report(lease))
    assert sorted(reported.ended_runs) == [run.id for run in runs]
    assert await records.runs.counts() == {"completed": 3}


async def test_a_task_that_never_existed_is_gone(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    nobody = ClaimedTask(10**9, "https://a.example/", run.id, run.id, 0, 1, 500, 0)
    assert (await report(records, host_report(lease, [ended(nobody)]))).gone == {nobody.id}


# -- redirects and visits ---------------------------------------------------------------------------------------


def named(path: str) -> RenamedUrl:
    """Return the name of a task with its page at another path."""
    there = url(0, path=path)
    return RenamedUrl(there.url, there.key)


async def kept(records: Records, lease: HostLease, *outcomes: Outcome) -> None:
    """Report pages, each in the archive."""
    segment = await records.segments.begin(f"warc/{lease.token}-{lease.host_id}-{outcomes[0].task.id}", ME)
    written = WrittenSegment(segment, len(outcomes), 100 * len(outcomes))
    assert not (await report(records, host_report(lease, outcomes), segment=written)).refused


async def test_a_task_has_the_url_of_its_page(records: Records):
    run = await running_run(records)
    await admit(records, url(run, path="/old"), url(run, "b.example"))
    lease = (await claim(records))["a.example"]
    await kept(records, lease, ended(lease.tasks[0], page=page(), renamed=named("/new")))
    named_now = {(t.url, t.state) for t in await records.tasks.find() if t.host == "a.example"}
    assert named_now == {("https://a.example/new", "completed")}
    assert (await admit(records, url(run, path="/new"))).known == 1
    assert (await admit(records, url(run, path="/old"))).new == 1


async def test_a_url_of_another_task_is_not_given_twice(records: Records):
    run, other = await running_run(records), await running_run(records)
    await admit(records, *urls(run, "a.example", 4), url(other, path="/0"))
    lease = await claim_one(records)
    t = {task.url: task for task in lease.tasks if task.run_id == run.id}
    (alone,) = (task for task in lease.tasks if task.run_id == other.id)
    ends = [t[f"https://a.example/{n}"] for n in range(4)]
    outcomes = [
        ended(ends[0], page=page()),
        ended(ends[1], page=page(), renamed=named("/0")),
        ended(ends[2], page=page(), renamed=named("/9")),
        ended(ends[3], page=page(), renamed=named("/9")),
        ended(alone, page=page(), renamed=named("/1")),
    ]
    await kept(records, lease, *outcomes)
    rows = await records.tasks.find()
    assert {r.state for r in rows} == {"completed"}, "each task has its page, under any name"
    mine = sorted(r.url.rpartition("/")[2] for r in rows if r.run_id == run.id)
    assert len(mine) == len(set(mine)) == 4
    assert set(mine) - {"2", "3"} == {"0", "1", "9"}
    assert [r.url for r in rows if r.run_id == other.id] == ["https://a.example/1"]


async def test_a_visited_page_is_known_to_the_next_run(records: Records, clock: FakeClock):
    first = await running_run(records)
    await admit(records, url(first, path="/1"), url(first, path="/2"))
    lease = await claim_one(records)
    facts = structs.replace(page(), etag='"v1"', last_modified="Sat, 14 Nov 2026 10:00:00 GMT", fetched_at=77)
    one, two = lease.tasks
    await kept(records, lease, ended(one, page=facts), ended(two, TaskState.FAILED, "http_4xx"))
    clock.advance(DELAY / 1000)
    second = await running_run(records)
    await admit(records, url(second, path="/1"), url(second, path="/2"))
    lease = await claim_one(records)
    known = [task.known for task in lease.tasks]
    assert known == [KnownPage(one.id, "sha256:00", 77, '"v1"', "Sat, 14 Nov 2026 10:00:00 GMT"), None]


async def test_the_body_stays_with_the_task_that_stored_it(records: Records, clock: FakeClock):
    ids: list[int] = []
    for body_of in (None, "first", "first"):
        run = await running_run(records)
        await admit(records, url(run))
        lease = await claim_one(records)
        (task,) = lease.tasks
        assert [k.task_id for k in [task.known] if k] == ids[:1]
        facts = structs.replace(page(), body_of=ids[0] if body_of else None, etag=f'"{task.id}"')
        await kept(records, lease, ended(task, page=facts))
        ids.append(task.id)
        clock.advance(DELAY / 1000)
    assert [(await page_of(records, i))[1].body_of for i in ids] == [None, ids[0], ids[0]]


async def test_a_restarted_task_does_not_refer_to_its_own_page(records: Records, clock: FakeClock):
    """The next page of the task replaces the earlier one, so that no row may refer to the earlier one."""
    run = await running_run(records)
    await admit(records, url(run), url(run, path="/2"))
    lease = await claim_one(records)
    (task,) = (t for t in lease.tasks if t.url == "https://a.example/")
    await kept(records, lease, ended(task, page=page()))
    clock.advance(DELAY / 1000)
    await records.moves.apply(Change("task", task.id, "restart", "completed", "pending", "person"))
    again = {t.id: t for t in (await claim_one(records)).tasks}
    assert again[task.id].known is None


async def test_one_page_of_two_runs_is_one_visit(records: Records, clock: FakeClock, peek: Peek):
    runs = [await running_run(records) for _ in range(2)]
    await admit(records, *(url(run) for run in runs))
    lease = await claim_one(records)
    await kept(records, lease, *(ended(task, page=page()) for task in lease.tasks))
    ((task_id,),) = await peek.rows("SELECT task_id FROM visits")
    assert task_id in {task.id for task in lease.tasks}


async def test_a_task_keeps_its_number_of_hops(records: Records):
    run = await running_run(records)
    await admit(records, url(run, hops=3))
    assert [t.hops for t in (await claim_one(records)).tasks] == [3]


# -- items ------------------------------------------------------------------------------------------------------


def made(task: ClaimedTask, title: str) -> NewItem:
    """Return an item of a page."""
    (item,) = new_items([("page", {"title": title})], Origin(task.run_id, task.id, task.url))
    return item


async def test_items_are_stored_with_the_report_of_their_page_or_not_at_all(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    late = HostReport(lease.host_id, lease.token + 1, (ended(lease.tasks[0]),))
    assert (await report(records, late, items=[made(lease.tasks[0], "Late")])).refused
    assert await records.items.of_run(run.id) == []
    await report(records, host_report(lease), items=[made(t, f"T{t.id}") for t in lease.tasks])
    kept = await records.items.of_run(run.id)
    assert {i.task_id: i.title for i in kept} == {t.id: f"T{t.id}" for t in lease.tasks}
    assert await records.items.waiting() == 2
