"""Lists of the frontier for people: hosts in line, queues, tasks of a run by state, and the details of one task."""

import pytest

from longline.model.frontier.frontier_lists import MAX_COUNTED_TASKS, PlaceInLine, TaskChoice
from longline.model.runs.run import RunRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.frontier.test_task_leases import downloaded, take
from tests.drivers.records.world import ME, admit, claim, ended, host_report, report, running_run, url, urls


@pytest.fixture
async def run(records: Records) -> RunRow:
    """A run with three URLs at each of three hosts, of which `b.example` is held."""
    run = await running_run(records)
    await admit(records, *urls(run, "b.example", 3))
    await claim(records, owner=ME, tasks=2)
    await admit(records, *urls(run, "a.example", 3), *urls(run, "c.example", 3))
    return run


async def test_hosts_are_listed_free_and_held(records: Records, run: RunRow, clock: FakeClock):
    free = await records.host_lists.free(limit=10)
    assert [(one.host, one.place(clock.now()), one.tasks) for one in free] == [
        ("a.example", "ready", 3),
        ("c.example", "ready", 3),
    ]
    [held] = await records.host_lists.held(limit=10)
    assert (held.host, held.owner, held.place(clock.now()), held.tasks) == ("b.example", ME, "held", 3)
    assert await records.host_lists.held(owner=99, limit=10) == []


async def test_a_list_of_hosts_continues_after_its_last_row(records: Records, run: RunRow):
    [first] = await records.host_lists.free(limit=1)
    [second] = await records.host_lists.free(after=(first.wake_at or 0, first.host_id), limit=5)
    assert (first.host, second.host) == ("a.example", "c.example")
    assert await records.host_lists.free(after=(second.wake_at or 0, second.host_id), limit=5) == []


async def test_hosts_are_found_by_the_beginning_of_their_names(records: Records, run: RunRow):
    await admit(records, url(run, "ab.example"), url(run, "a_.example"))
    found = await records.host_lists.named("a", limit=10)
    assert [one.host for one in found] == ["a.example", "a_.example", "ab.example"]
    assert [one.host for one in await records.host_lists.named("a", after="a.example", limit=1)] == ["a_.example"]
    assert await records.host_lists.named("%", limit=10) == []
    one = await records.host_lists.get("c.example")
    assert one is not None
    assert one.tasks == 3
    assert await records.host_lists.get("nowhere.example") is None


async def test_no_more_tasks_are_counted_than_the_bound(records: Records, run: RunRow):
    await admit(records, *urls(run, "many.example", MAX_COUNTED_TASKS + 20))
    [many] = await records.host_lists.named("many", limit=1)
    assert many.tasks == MAX_COUNTED_TASKS


async def test_the_queue_of_a_host_marks_the_tasks_in_hand(records: Records, run: RunRow):
    host = await records.host_lists.get("b.example")
    assert host is not None
    queue = await records.host_lists.queue(host.host_id, limit=10)
    assert [task.in_hand for task in queue] == [True, True, False]
    rest = await records.host_lists.queue(host.host_id, after=queue[0].place, limit=10)
    assert [task.id for task in rest] == [task.id for task in queue[1:]]
    assert [task.id for task in await records.host_lists.in_hand([host])] == [task.id for task in queue[:2]]
    assert queue[0].place > PlaceInLine()


async def test_tasks_of_a_run_come_by_state_newest_first(records: Records, run: RunRow):
    leases = await claim(records, tasks=1)
    await report(
        records, host_report(leases["a.example"], [ended(leases["a.example"].tasks[0], TaskState.FAILED, "http_5xx")])
    )
    everything, older = await records.task_lists.of_run(run.id, limit=20)
    assert [task.id for task in everything] == sorted((task.id for task in everything), reverse=True)
    assert (len(everything), older) == (9, None)
    [failed], _ = await records.task_lists.of_run(run.id, TaskChoice("failed"), limit=20)
    assert (failed.state, failed.reason) == ("failed", "http_5xx")
    for wanted, count in (
        (TaskChoice(reason="http_5xx"), 1),
        (TaskChoice("open"), 8),
        (TaskChoice("open", reason="http_5xx"), 0),
        (TaskChoice("failed", "a.example", "http_5xx"), 1),
        (TaskChoice("failed", "b.example"), 0),
        (TaskChoice(reason="tls"), 0),
        (TaskChoice(host="nowhere.example"), 0),
        (TaskChoice(host="b.example"), sum(task.host == "b.example" for task in everything)),
    ):
        assert len((await records.task_lists.of_run(run.id, wanted, limit=20))[0]) == count, wanted
        assert len((await records.task_lists.newest(wanted, limit=20))[0]) == count, wanted
    page, older = await records.task_lists.of_run(run.id, limit=4)
    assert older == page[-1].id
    following, _ = await records.task_lists.of_run(run.id, before=older, limit=20)
    assert [task.id for task in [*page, *following]] == [task.id for task in everything]
    newest, older = await records.task_lists.newest(limit=4)
    assert ([task.id for task in newest], older) == ([task.id for task in page], page[-1].id)
    [alone], _ = await records.task_lists.newest(TaskChoice("failed"), limit=20)
    assert alone.id == failed.id


async def test_a_list_by_a_rare_state_reads_a_limited_number_and_gives_the_next_id(
    records: Records, run: RunRow, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longline.drivers.records.frontier.tasks.MAX_SCANNED", 4)
    found, older = await records.task_lists.of_run(run.id, TaskChoice("failed"), limit=2)
    assert found == []
    assert older is not None, "older tasks were not read"
    everything, _ = await records.task_lists.of_run(run.id, limit=20)
    assert older == everything[3].id


async def test_a_task_in_hand_has_a_lease_and_a_waiting_one_has_none(records: Records, run: RunRow, clock: FakeClock):
    worker = await records.workers.join("w-1", "fetch", "")
    leases = await claim(records, owner=worker.id, tasks=1)
    task = leases["a.example"].tasks[0]
    held = await records.task_lists.lease(task.id)
    assert held is not None
    assert (held.owner, held.owner_name, held.executor, held.rest) == (worker.id, "w-1", "fetch", "pending")
    assert (held.lease_until or 0) > clock.now()
    waiting = (await records.task_lists.of_run(run.id, limit=1))[0][0]
    free = await records.task_lists.lease(waiting.id)
    assert free is not None
    assert (free.owner, free.lease_until) == (None, None)
    assert await records.task_lists.lease(10**12) is None


async def test_the_moves_of_a_task_are_in_the_reports_and_in_its_own_events(records: Records, run: RunRow):
    leases = await claim(records, tasks=1)
    task = leases["a.example"].tasks[0]
    await report(records, host_report(leases["a.example"], [ended(task, TaskState.FAILED, "http_5xx")]))
    reports = await records.task_lists.reports(run.id, task.id)
    assert [one.move for one in reports] == ["report"]
    assert f"[{task.id}," in (reports[0].moves or "")
    assert await records.task_lists.reports(run.id, task.id + 10_000) == []
    events = await records.task_lists.events("run", run.id)
    assert [one.move for one in events] == ["start", "create"]
    assert all(one.moves is None for one in events)


async def test_a_task_without_a_page_has_no_items(records: Records, run: RunRow):
    [task] = (await records.task_lists.of_run(run.id, limit=1))[0]
    assert await records.task_lists.items(task.id) == []


async def test_taken_tasks_are_listed_with_their_holder(records: Records):
    run_id = await downloaded(records, 2)
    leases = await take(records, owner=7, limit=1)
    [held] = await records.host_lists.taken()
    assert (held.id, held.owner, held.executor, held.run_id) == (leases[0].task.id, 7, "parse", run_id)
    assert held.until == leases[0].until
