"""Tasks leased one by one, on both engines."""

import asyncio

import pytest

from longline.drivers.records import open_records
from longline.model.frontier.task import BOT, PARSE, ClaimedTask
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, Change, ReportBatch, TaskLease, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
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
    report,
    running_run,
    url,
    urls,
)


async def downloaded(records: Records, amount: int = 1, host: str = "a.example") -> int:
    """Start a run with pages that wait for a parser; return its id."""
    run = await running_run(records)
    await admit(records, *urls(run, host, amount))
    lease = await claim_one(records, host)
    segment = await records.segments.begin(f"segment-{run.id}", ME)
    outcomes = [ended(t, TaskState.DOWNLOADED, page=page(n)) for n, t in enumerate(lease.tasks)]
    assert not (await report(records, host_report(lease, outcomes), segment=WrittenSegment(segment, amount, 9))).refused
    return run.id


async def take(records: Records, owner: int = ME, limit: int = 100, executor: str = PARSE) -> list[TaskLease]:
    return await records.hands.take(executor, owner, limit, TTL)


async def take_one(records: Records, owner: int = ME, executor: str = PARSE) -> TaskLease:
    (lease,) = await take(records, owner, executor=executor)
    return lease


async def give(records: Records, lease: TaskLease, became: TaskState = TaskState.COMPLETED, **more: object):
    reason = "ok" if became == TaskState.COMPLETED else "parser_error"
    return await records.hands.give([(lease.token, ended(lease.task, became, reason, **more))], ReportBatch())


async def test_a_taken_task_is_leased_to_one_worker(records: Records, clock: FakeClock):
    run_id = await downloaded(records, 3)
    leases = await take(records, limit=2)
    assert [(x.task.run_id, x.task.attempt, x.until) for x in leases] == [(run_id, 1, clock.now() + TTL)] * 2
    rest = await take(records, YOU)
    assert {x.task.id for x in leases} | {x.task.id for x in rest} == {t.id for t in await records.tasks.find()}
    assert len(rest) == 1
    assert {t.state for t in await records.tasks.find()} == {"parsing"}


async def test_concurrent_takers_get_distinct_tasks(records: Records, records_url: str):
    await downloaded(records, 60)
    others = [await open_records(records_url, FakeClock()) for _ in range(3)]
    ports = [records, *others]
    found = await asyncio.gather(*(ports[i % 4].hands.take(PARSE, i, 5, TTL) for i in range(12)))
    for other in others:
        await other.schema.close()
    taken = [lease.task.id for leases in [*found, await take(records)] for lease in leases]
    assert len(taken) == len(set(taken)) == 60


async def test_tasks_are_taken_by_priority(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{p}", priority=p, executor=BOT) for p in (500, 3, 900)))
    assert [x.task.priority for x in await take(records, executor=BOT)] == [3, 500, 900]


async def test_each_executor_gets_its_own_tasks(records: Records):
    run = await running_run(records)
    await admit(records, url(run, path="/b", executor=BOT))
    await downloaded(records)
    assert [x.task.url for x in await take(records, executor=BOT)] == ["https://a.example/b"]
    assert [x.task.url for x in await take(records, executor=PARSE)] == ["https://a.example/0"]


async def test_a_completed_task_is_given_back_with_its_page(records: Records, peek: Peek):
    run_id = await downloaded(records)
    lease = await take_one(records)
    named = page(title="A title")
    reported = await give(records, lease, status=200, page=named)
    assert (reported.refused, reported.ended_runs) == (False, (run_id,))
    assert await peek.rows("SELECT * FROM offers") == []
    assert await page_of(records, lease.task.id) == (f"segment-{run_id}", named)
    row = await get_run(records, run_id)
    assert (row.state, row.completed, row.open) == ("completed", 1, 0)


async def test_a_task_that_is_parsed_again_keeps_its_attempts(records: Records, clock: FakeClock):
    await downloaded(records)
    for attempt in (1, 2, 3):
        lease = await take_one(records)
        assert lease.task.attempt == attempt
        assert not (await give(records, lease, TaskState.DOWNLOADED, due=clock.now() + 1_000)).refused
        assert await take(records) == []
        clock.advance(1.001)
        assert await records.hands.reap(10) == 1


async def test_a_task_that_is_fetched_again_waits_with_its_host(records: Records, clock: FakeClock, peek: Peek):
    await downloaded(records)
    lease = await take_one(records)
    assert not (await give(records, lease, TaskState.PENDING, due=clock.now() + 5_000)).refused
    assert await peek.rows("SELECT * FROM offers") == []
    assert await claim(records) == {}
    clock.advance(5)
    assert [t.id for t in (await claim_one(records)).tasks] == [lease.task.id]


async def test_a_task_that_is_fetched_again_at_once_goes_to_the_end(records: Records, clock: FakeClock, peek: Peek):
    await downloaded(records)
    lease = await take_one(records)
    await give(records, lease, TaskState.PENDING)
    assert await peek.value("SELECT wake_at FROM line") == clock.now(), "not before hosts that waited longer"


async def test_urls_found_by_a_parser_are_admitted(records: Records):
    run_id = await downloaded(records)
    lease = await take_one(records)
    found = [url(run_id, path="/0"), url(run_id, "a.example", "/more")]
    batch = ReportBatch(admit=found, refused={(run_id, "offsite"): 3}, without_item={(run_id, "page_type"): 1})
    reported = await records.hands.give([(lease.token, ended(lease.task))], batch)
    assert (reported.admitted, reported.ended_runs) == (Admitted(1, 1, 0), ())
    fates = {(f.fate, f.reason): f.count for f in await records.runs.fates(run_id)}
    apart = {("refused", "known"): 1, ("refused", "offsite"): 3, ("without_item", "page_type"): 1}
    assert fates == {("completed", "ok"): 1, **apart}
    assert [t.url for t in (await claim_one(records)).tasks] == ["https://a.example/more"]


async def test_renewal_moves_the_deadline(records: Records, clock: FakeClock):
    await downloaded(records)
    lease = await take_one(records)
    clock.advance(TTL / 1000)
    assert await records.hands.renew(ME, [(lease.task.id, lease.token)], TTL) == {lease.task.id}
    clock.advance(1)
    assert await records.hands.reap(10) == 0
    assert not (await give(records, lease)).refused


async def test_only_the_holder_renews_and_not_after_the_deadline(records: Records, clock: FakeClock, peek: Peek):
    await downloaded(records)
    lease = await take_one(records)
    held = [(lease.task.id, lease.token)]
    before = await peek.snapshot()
    assert await records.hands.renew(YOU, held, TTL) == set()
    assert await records.hands.renew(ME, [(lease.task.id, lease.token + 1)], TTL) == set()
    clock.advance(TTL / 1000 + 0.001)
    assert await records.hands.renew(ME, held, TTL) == set()
    assert await peek.snapshot() == before


async def test_the_reaper_makes_lapsed_tasks_ready_again(records: Records, clock: FakeClock, peek: Peek):
    await downloaded(records)
    lease = await take_one(records)
    clock.advance(TTL / 1000)
    assert await records.hands.reap(10) == 0
    clock.advance(0.001)
    assert await records.hands.reap(10) == 1
    again = await take_one(records, YOU)
    assert (again.task.id, again.task.attempt) == (lease.task.id, 2)
    before = await peek.snapshot()
    assert (await give(records, lease)).gone == {lease.task.id}
    assert await peek.snapshot() == before
    assert not (await give(records, again)).refused


async def test_reaping_is_bounded(records: Records, clock: FakeClock):
    await downloaded(records, 5)
    await take(records)
    clock.advance(100)
    assert [await records.hands.reap(3) for _ in range(3)] == [3, 2, 0]


async def test_a_retry_that_became_due_keeps_its_token(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run, executor=BOT, due=clock.now() + 1_000))
    assert await take(records, executor=BOT) == []
    clock.advance(1.001)
    assert await records.hands.reap(10) == 1
    assert await peek.rows("SELECT due, token, owner FROM offers") == [(0, 0, None)]


async def test_disowning_takes_back_one_owners_tasks(records: Records):
    await downloaded(records, 3)
    (mine,) = await take(records, ME, 1)
    yours = await take(records, YOU)
    assert await records.hands.release_all(ME) == 1
    assert (await give(records, mine)).refused
    assert [x.task.id for x in await take(records, 3)] == [mine.task.id]
    assert not (await give(records, yours[0])).refused


@pytest.mark.parametrize("how", ["stale", "never taken", "no such task", "given already"])
async def test_a_task_given_without_its_lease_changes_nothing(records: Records, peek: Peek, how: str):
    run_id = await downloaded(records, 2)
    (lease,) = await take(records, limit=1)
    token, task = lease.token, lease.task
    if how == "stale":
        token -= 1
    elif how == "no such task":
        task = ClaimedTask(10**9, "https://a.example/", run_id, run_id, 0, 1, 500, 0)
    elif how == "given already":
        assert not (await give(records, lease)).refused
    else:
        await records.hands.release_all(ME)
        token += 1
    before = await peek.snapshot()
    batch = ReportBatch(admit=[url(run_id, path="/found")], refused={(run_id, "depth"): 1})
    for became in (TaskState.COMPLETED, TaskState.PENDING, TaskState.DOWNLOADED, TaskState.FAILED):
        assert (await records.hands.give([(token, ended(task, became))], batch)).gone == {task.id}
    assert await peek.snapshot() == before


async def test_one_stale_task_refuses_all(records: Records, peek: Peek):
    await downloaded(records, 3)
    one, two, three = await take(records)
    before = await peek.snapshot()
    given = [(x.token, ended(x.task)) for x in (one, three)]
    reported = await records.hands.give([*given, (two.token + 1, ended(two.task))], ReportBatch())
    assert reported.gone == {two.task.id}
    assert await peek.snapshot() == before
    assert not (await records.hands.give(given, ReportBatch())).refused


async def test_a_task_given_twice_at_once_is_refused(records: Records, peek: Peek):
    await downloaded(records, 2)
    (lease, _) = await take(records)
    before = await peek.snapshot()
    assert (await records.hands.give([(lease.token, ended(lease.task))] * 2, ReportBatch())).gone == {lease.task.id}
    assert await peek.snapshot() == before


@pytest.mark.parametrize(
    ("move", "became"),
    [("pause", "paused"), ("cancel", "cancelled"), ("restart", "pending"), ("reparse", "downloaded")],
)
async def test_a_task_that_a_person_moved_is_gone(records: Records, peek: Peek, move: str, became: str):
    await downloaded(records)
    lease = await take_one(records)
    assert await records.moves.apply(Change("task", lease.task.id, move, "parsing", became, "person"))
    before = await peek.snapshot()
    assert (await give(records, lease)).gone == {lease.task.id}
    assert await records.hands.renew(ME, [(lease.task.id, lease.token)], TTL) == set()
    assert await peek.snapshot() == before


async def test_a_task_that_is_offered_again_refuses_the_old_lease(records: Records, peek: Peek):
    await downloaded(records)
    old = await take_one(records)
    await records.moves.apply(Change("task", old.task.id, "reparse", "parsing", "downloaded", "person"))
    new = await take_one(records, YOU)
    before = await peek.snapshot()
    assert (await give(records, old)).gone == {old.task.id}
    assert await peek.snapshot() == before
    assert not (await give(records, new)).refused


async def test_a_bots_task_stays_with_bots_when_it_is_given_back(records: Records, peek: Peek, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run, executor=BOT))
    lease = await take_one(records, executor=BOT)
    assert [t.state for t in await records.tasks.find()] == ["crawling"]
    assert not (await give(records, lease, TaskState.PENDING)).refused
    assert await peek.rows("SELECT * FROM queue") == []
    assert await peek.value("SELECT executor FROM tasks") == BOT
    again = await take_one(records, executor=BOT)
    assert again.task.attempt == 2
    assert (await give(records, again)).ended_runs == (run.id,)
