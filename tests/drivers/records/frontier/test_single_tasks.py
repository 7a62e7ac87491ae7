"""Single tasks that redirects lead to other hosts, on both engines."""

import pytest

from longline.model.frontier.host import HostLease
from longline.model.frontier.task import ClaimedTask, Outcome, TaskRedirect, TaskRow
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, HostSetting, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    admit,
    claim,
    claim_one,
    ended,
    get_run,
    host_report,
    page,
    report,
    running_run,
    url,
)

A, B, C = "a.example", "b.example", "c.example"


def away(task: ClaimedTask, host: str, hops: int = 1, **facts: object) -> Outcome:
    """Return the outcome of a task that continues at another host."""
    target = TaskRedirect(f"https://{host}/there", host, hops)
    return ended(task, TaskState.PENDING, "redirected", redirected=target, attempts=task.attempt - 1, **facts)


async def move_on(records: Records, lease: HostLease, host: str, hops: int = 1, **facts: object) -> None:
    """Report that every task of a host continues at another host."""
    await records.frontier.ensure_hosts([HostSetting(host, 0, 1)])
    outcomes = [away(task, host, hops, **facts) for task in lease.tasks]
    assert not (await report(records, host_report(lease, outcomes))).refused


async def single(records: Records, *paths: str, **facts: object) -> RunRow:
    run = await running_run(records)
    await admit(records, *(url(run, A, path, single=True, **facts) for path in paths))
    return run


async def row(records: Records, run: RunRow) -> TaskRow:
    [task] = await records.tasks.find(run_id=run.id)
    return task


@pytest.fixture(autouse=True)
async def sound(peek: Peek, clock: FakeClock, records: Records):
    """A check of all sums after every test."""
    yield
    assert await faults(peek, clock.now()) == []


async def test_a_task_continues_at_the_other_host_with_its_id_key_and_url(records: Records, peek: Peek):
    run = await single(records, "/1")
    first = await claim_one(records)
    await move_on(records, first, B)
    second = await claim_one(records, B)
    [before], [after] = first.tasks, second.tasks
    assert (after.id, after.url, after.hops, after.attempt) == (before.id, f"https://{B}/there", 1, 1)
    assert after.home_id == first.host_id
    shown = await row(records, run)
    assert (shown.url, shown.target, shown.host, shown.state) == (before.url, after.url, B, "queued")
    await report(records, host_report(second))
    shown = await row(records, run)
    assert (shown.url, shown.target, shown.host, shown.hops, shown.state) == (before.url, None, A, 0, "completed")
    assert (await get_run(records, run.id)).state == "completed"
    assert await peek.value("SELECT COUNT(*) FROM tasks") == 1


async def test_tasks_that_are_redirected_to_one_url_stay_separate(records: Records):
    run = await single(records, "/1", "/2")
    await move_on(records, await claim_one(records), B)
    lease = await claim_one(records, B)
    assert [task.url for task in lease.tasks] == [f"https://{B}/there"] * 2
    one, other = lease.tasks
    await report(records, host_report(lease, [ended(one), ended(other, TaskState.FAILED, "http_4xx")]))
    assert [task.state for task in await records.tasks.find(run_id=run.id)] == ["completed", "failed"]


async def test_the_url_of_a_task_at_another_host_is_known(records: Records):
    run = await single(records, "/1")
    await move_on(records, await claim_one(records), B)
    again = await admit(records, url(run, A, "/1", single=True), url(run, A, "/2", single=True))
    assert (again.new, again.known) == (1, 1)


async def test_a_failed_attempt_returns_the_task_home_and_the_next_one_starts_there(records: Records, clock: FakeClock):
    run = await single(records, "/1")
    await move_on(records, await claim_one(records), B)
    lease = await claim_one(records, B)
    due = clock.now() + 5_000
    outcomes = [ended(task, TaskState.PENDING, "dns", due=due) for task in lease.tasks]
    await report(records, host_report(lease, outcomes))
    assert await claim(records) == {}
    clock.advance(5)
    [again] = (await claim_one(records, A)).tasks
    assert (again.url, again.attempt, again.hops, again.home_id) == (f"https://{A}/1", 2, 0, None)
    assert (await row(records, run)).host == A


async def test_a_redirect_may_return_a_task_to_its_own_host(records: Records):
    await single(records, "/1")
    home = await claim_one(records)
    await move_on(records, home, B)
    await move_on(records, await claim_one(records, B), A, hops=2)
    back = await claim_one(records, A)
    assert [(task.url, task.hops, task.home_id) for task in back.tasks] == [(f"https://{A}/there", 2, home.host_id)]
    await report(records, host_report(back))


async def test_a_held_host_gets_the_task_when_it_is_released(records: Records):
    run = await single(records, "/1")
    await admit(records, url(run, B, "/own"))
    leases = await claim(records)
    await move_on(records, leases[A], B)
    assert await claim(records) == {}
    await report(records, host_report(leases[B]))
    [task] = (await claim_one(records, B)).tasks
    assert task.url == f"https://{B}/there"


@pytest.mark.parametrize(
    ("name", "became", "claimed"), [("pause", "paused", 0), ("cancel", "cancelled", 0), ("restart", "pending", 1)]
)
async def test_a_move_by_a_person_returns_a_task_home(records: Records, name: str, became: str, claimed: int):
    run = await single(records, "/1")
    await move_on(records, await claim_one(records), B)
    task = await row(records, run)
    await records.moves.apply(Change("task", task.id, name, task.state, became, "person"))
    shown = await row(records, run)
    assert (shown.state, shown.host, shown.target, shown.hops) == (became, A, None, 0)
    leases = await claim(records)
    assert [t.url for lease in leases.values() for t in lease.tasks] == [f"https://{A}/1"] * claimed


async def test_the_cancellation_of_a_run_returns_its_tasks_home(records: Records):
    run = await single(records, "/1")
    await move_on(records, await claim_one(records), B)
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    shown = await row(records, run)
    assert (shown.state, shown.host, shown.target) == ("cancelled", A, None)


async def test_the_report_of_a_lost_lease_moves_no_task(records: Records, clock: FakeClock):
    run = await single(records, "/1")
    lease = await claim_one(records)
    clock.advance(60)
    await records.frontier.reap(10)
    await records.frontier.ensure_hosts([HostSetting(B, 0, 1)])
    assert (await report(records, host_report(lease, [away(task, B) for task in lease.tasks]))).refused
    assert (await row(records, run)).host == A


async def test_a_report_stores_the_proxy_and_the_begin_of_the_attempt(records: Records):
    run = await single(records, "/1")
    await move_on(records, await claim_one(records), B, began_at=5, proxy_id=7)
    assert ((await row(records, run)).began_at, (await row(records, run)).proxy_id) == (5, 7)
    lease = await claim_one(records, B)
    await report(records, host_report(lease, [ended(task, began_at=9, proxy_id=None) for task in lease.tasks]))
    shown = await row(records, run)
    assert (shown.began_at, shown.proxy_id) == (5, None), "the attempt began at home; its last request had no proxy"


async def test_a_task_carries_its_own_limit_and_headers(records: Records):
    run = await single(records, "/1", max_attempts=7, credentials="locked")
    [task] = (await claim_one(records)).tasks
    assert (task.max_attempts, task.credentials) == (7, "locked")
    assert (await row(records, run)).max_attempts == 7


@pytest.mark.parametrize(("strayed", "known"), [(False, True), (True, False)])
async def test_the_validators_of_a_page_elsewhere_are_not_sent_to_the_url_of_the_task(
    records: Records, strayed: bool, known: bool
):
    await single(records, "/1")
    lease = await claim_one(records)
    segment = WrittenSegment(await records.segments.begin(new_id(), 1), 1, 100)
    outcomes = [ended(task, page=page(), strayed=strayed) for task in lease.tasks]
    await report(records, host_report(lease, outcomes), segment=segment)
    await single(records, "/1")
    [again] = (await claim_one(records)).tasks
    assert (again.known is not None) == known


async def test_a_page_that_was_parsed_again_gets_its_new_title(records: Records):
    run = await single(records, "/1")
    lease = await claim_one(records)
    segment = WrittenSegment(await records.segments.begin(new_id(), 1), 1, 100)
    await report(records, host_report(lease, [ended(t, page=page(title="old")) for t in lease.tasks]), segment=segment)
    task = await row(records, run)
    await records.moves.apply(Change("task", task.id, "restart", "completed", "pending", "person"))
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(t, described="new") for t in lease.tasks]))
    stored = await records.pages.get(task.id)
    assert stored is not None
    assert stored.title == "new"
