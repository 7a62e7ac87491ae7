"""Pages of tasks, hosts and workers."""

import httpx
import pytest

from longline.console.tasks.task_list import BUTTONS
from longline.model.callers.audit import AuditFilter
from longline.model.states import TaskState, legal
from tests.console.visiting import csrf, log_in, text_of
from tests.drivers.records.world import admit, claim, claim_one, ended, host_report, report, running_run, url, urls
from tests.surfaces.intervals.platform import Door

HOSTILE = "<script>alert(1)</script>\"'‮gnp.exe"


async def failed_task(door: Door) -> int:
    records = door.platform.records
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    outcomes = [ended(lease.tasks[0], TaskState.FAILED, "http_5xx", error=HOSTILE)]
    await report(records, host_report(lease, outcomes, unstarted=lease.tasks[1:]))
    return lease.tasks[0].id


async def test_a_task_is_shown_with_its_moves(door: Door, visitor: httpx.AsyncClient):
    task_id = await failed_task(door)
    page = (await visitor.get(f"/console/tasks/{task_id}")).text
    assert 'data-state="failed"' in page
    assert "http_5xx" in page
    assert "<script>alert" not in page
    offered = {name for name in BUTTONS if f'action="/console/tasks/{task_id}/{name}"' in page}
    assert offered == {"cancel", "restart"} & set(legal("task", "failed", "person"))
    assert "reparse to" not in page, "it has no page that could be parsed"


async def test_a_task_is_restarted_and_audited(door: Door, visitor: httpx.AsyncClient):
    task_id = await failed_task(door)
    page = (await visitor.get(f"/console/tasks/{task_id}")).text
    answer = await visitor.post(f"/console/tasks/{task_id}/restart", data={"csrf": csrf(page), "reason": "again"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/console/tasks/{task_id}")
    task = await door.platform.records.tasks.get(task_id)
    assert task is not None
    assert task.state == "pending"
    [row] = await door.platform.records.audit.find(AuditFilter(noun="task"), limit=5)
    assert (row.action, row.door, row.name, row.reason) == ("task.restart", "console", "a-admin", "again")


async def test_a_member_sees_no_button_and_may_not_act(door: Door):
    task_id = await failed_task(door)
    async with log_in(door, "member") as member:
        page = (await member.get(f"/console/tasks/{task_id}")).text
        assert f"/console/tasks/{task_id}/restart" not in page
        token = csrf(page)
        answer = await member.post(f"/console/tasks/{task_id}/restart", data={"csrf": token})
        assert answer.status_code == 403


async def test_many_tasks_are_moved_at_once_each_by_itself(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    task_id = await failed_task(door)
    run_id = (await records.tasks.find(limit=1))[0].run_id
    page = (await visitor.get(f"/console/tasks?run={run_id}")).text
    ids = [task.id for task in await records.tasks.find(run_id=run_id)]
    answer = await visitor.post("/console/tasks/move", data={"csrf": csrf(page), "move": "pause", "tasks": ids})
    assert "1 of 2 tasks moved" in text_of(answer.text)
    states = {task.id: task.state for task in await records.tasks.find(run_id=run_id)}
    assert states == {task_id: "failed", **{i: "paused" for i in ids if i != task_id}}
    nothing = await visitor.post("/console/tasks/move", data={"csrf": csrf(page), "move": "pause"})
    assert nothing.status_code == 400


@pytest.mark.parametrize(("state", "count"), [("", 2), ("failed", 1), ("queued", 0), ("pending", 1), ("open", 1)])
async def test_tasks_of_a_run_are_chosen_by_state(door: Door, visitor: httpx.AsyncClient, state: str, count: int):
    await failed_task(door)
    run_id = (await door.platform.records.tasks.find(limit=1))[0].run_id
    page = (await visitor.get(f"/console/tasks?run={run_id}&state={state}")).text
    assert page.count('name="tasks"') == count


async def test_hosts_are_shown_with_queue_and_holder(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await running_run(records)
    worker = await records.workers.join(HOSTILE, "fetch", "")
    await admit(records, url(run, "held.example", "/x"))
    await claim(records, owner=worker.id)
    await admit(records, *urls(run, "free.example", 3))
    assert "free.example" in (await visitor.get("/console/hosts")).text
    held = (await visitor.get("/console/hosts?show=held")).text
    assert "held.example" in held
    assert "<script>alert" not in held
    assert "free.example" in (await visitor.get("/console/hosts?text=free")).text
    assert "in hand" in (await visitor.get("/console/hosts/held.example")).text
    assert "https://free.example/2" in (await visitor.get("/console/hosts/free.example")).text
    assert f"/console/workers/{worker.id}" in (await visitor.get("/console/workers")).text
    assert "https://held.example/x" in (await visitor.get(f"/console/workers/{worker.id}")).text
    assert (await visitor.get("/console/hosts/none.example")).status_code == 404
