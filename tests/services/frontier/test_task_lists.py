"""Tasks of a run by state, and one task with its lease, page and history."""

from pathlib import Path

import pytest

from longline.drivers.blobs import open_blobs
from longline.model.errors import NotFound
from longline.model.frontier.frontier_lists import TaskChoice
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.frontier.task_lists import TaskLists
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim, claim_one, ended, host_report, report, running_run, urls
from tests.services.kept import keep


@pytest.fixture
def tasks(records: Records) -> TaskLists:
    return TaskLists(records)


async def test_claimed_tasks_are_found_by_their_state_in_the_queue(records: Records, tasks: TaskLists):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    await claim(records, tasks=1)
    found, older = await tasks.find(run.id, TaskChoice("queued"), None, 10)
    assert ([task.url for task in found], older) == (["https://a.example/0"], None)
    assert len((await tasks.find(run.id, TaskChoice("pending"), None, 10))[0]) == 3
    assert (await tasks.find(run.id, TaskChoice("failed"), None, 10))[0] == []


async def test_a_task_has_its_lease_and_its_moves(records: Records, tasks: TaskLists, clock: FakeClock):
    worker, run = await records.workers.join("w-1", "fetch", ""), await running_run(records)
    await admit(records, *urls(run, "a.example", 1))
    lease = await claim_one(records, owner=worker.id)
    [task] = lease.tasks
    await report(records, host_report(lease, [ended(task, TaskState.PENDING, "http_5xx", error="HTTP 503")]))
    clock.advance(3600)
    await claim(records, owner=worker.id)
    whole = await tasks.get(task.id)
    assert (whole.task.state, whole.lease.owner_name, whole.run.id) == ("queued", "w-1", run.id)
    assert [(one.became, one.reason) for one in whole.history] == [("pending", "http_5xx")]
    assert (whole.page, list(whole.items)) == (None, [])


async def test_a_task_has_its_page(records: Records, tasks: TaskLists, tmp_path: Path):
    run = await keep(records, open_blobs(str(tmp_path)), "s", {"/1": b"<title>One</title>"})
    [row], _ = await tasks.find(run.id, TaskChoice("completed"), None, 10)
    whole = await tasks.get(row.id)
    assert whole.page is not None
    assert (whole.page.status, whole.lease.owner) == (200, None)
    await admit(records, *urls(await running_run(records), "b.example", 1))
    both, _ = await tasks.find(None, TaskChoice(), None, 10)
    assert (len(both), await tasks.with_pages(both), await tasks.with_pages([])) == (2, {row.id}, set())


async def test_an_unknown_task_is_not_found(tasks: TaskLists):
    with pytest.raises(NotFound):
        await tasks.get(12345)
