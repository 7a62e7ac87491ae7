"""The buttons of each role on every page with actions: those that `legal()` allows, and no other action is served."""

import importlib
import pkgutil
import re

import pytest

import longline.console
from longline.console.runs.run_detail import RUN_DETAIL
from longline.console.schedules.schedule_list import BUTTONS as SCHEDULE_BUTTONS
from longline.console.tasks.task_list import BUTTONS as TASK_BUTTONS
from longline.engine.lifecycle.tasks import TaskOrder
from longline.model.callers.audit import AuditFilter
from longline.model.states import ENDED, RunState, ScheduleState, TaskState, legal
from longline.ports.records.frontier.frontier import Change
from longline.services.frontier.task_actions import ORDERS, orders_of
from longline.surfaces.operation import Operation
from tests.console.hostile import Things, make_things
from tests.console.scene import add_urls, end_urls, make_scene, start_run
from tests.console.visiting import csrf, log_in
from tests.surfaces.intervals.platform import Door

ACTING, READING = ("admin", "moderator", "service"), ("member",)
ASKED_APART = {"pending"}
"""Orders for many tasks: on the page of one task a restart does the same."""


def actions() -> dict[tuple[str, str], Operation]:
    """Return every operation of the console that makes a change, by method and path."""
    found: dict[tuple[str, str], Operation] = {}
    for module in pkgutil.walk_packages(longline.console.__path__, "longline.console."):
        for value in vars(importlib.import_module(module.name)).values():
            for one in value if isinstance(value, tuple) else ():
                if isinstance(one, Operation) and one.method == "POST":
                    found[one.method, one.path] = one
    return found


def path_of(operation: Operation, things: Things) -> str:
    """Return the path of an operation with the ids of existing objects."""
    ids = {
        "run_id": things.run,
        "task_id": things.task,
        "source_id": things.source,
        "proxy_id": things.proxy,
        "move": "pause",
        "number": 1,
        "name": "a-bot",
    }
    return re.sub(r"\{(\w+)\}", lambda found: str(ids.get(found[1], things.schedule)), operation.path)


async def offered(door: Door, role: str, path: str, prefix: str) -> set[str]:
    """Return the actions below a path that a page offers to a role."""
    async with log_in(door, role) as client:
        page = (await client.get(path)).text
    return set(re.findall(rf'action="{re.escape(prefix)}/(\w+)"', page))


async def test_no_action_is_served_to_a_member_and_none_without_its_token(door: Door):
    things, made = await make_things(door.platform), actions()
    assert len(made) > 25, "every page with actions is requested"
    async with log_in(door, "member") as member, log_in(door) as admin:
        token = csrf((await member.get("/console/runs")).text)
        before = len(await door.platform.records.audit.find(AuditFilter(), limit=100))
        for one in made.values():
            if one.access not in ("action", "admin_action"):
                continue
            path = path_of(one, things)
            assert (await member.post(path, data={"csrf": token})).status_code == 403, path
            assert (await admin.post(path, data={"csrf": token})).status_code == 403, f"{path}: another's token"
            assert one.action, f"{path} is not audited"
        after = await door.platform.records.audit.find(AuditFilter(), limit=100)
        assert len(after) == before


@pytest.mark.parametrize("state", list(ScheduleState))
async def test_buttons_of_a_schedule(door: Door, state: ScheduleState):
    things = await make_things(door.platform)
    row = await door.platform.records.schedules.get_by_uid(things.schedule)
    assert row is not None
    if row.state != state:
        is_held = state == "running"
        lease = (1, 60_000) if is_held else (None, None)
        change = Change("schedule", row.id, "test", row.state, state, "person", owner=lease[0], lease_ms=lease[1])
        await door.platform.records.moves.apply(change)
    path = f"/console/schedules/{things.schedule}"
    expected = set(legal("schedule", state, "person")) & set(SCHEDULE_BUTTONS)
    for role in ACTING:
        assert await offered(door, role, path, path) == expected, role
    for role in READING:
        assert await offered(door, role, path, path) == set(), role
    async with log_in(door) as client:
        token = csrf((await client.get(path)).text)
        for name in set(SCHEDULE_BUTTONS) - expected:
            answer = await client.post(f"{path}/{name}", data={"csrf": token})
            assert answer.status_code == 409, (state, name)


@pytest.mark.parametrize("state", list(RunState))
async def test_buttons_of_a_run(door: Door, state: RunState):
    records = door.platform.records
    run = await make_scene(records)
    if state == "completed":
        await end_urls(records)
    elif state != "running":
        await records.moves.apply(Change("run", run.id, "test", "running", state, "person"))
    path = f"/console/runs/{run.id}"
    words = {"cancel": "cancel", "reopen": "retry"}
    expected = {words[name] for name in legal("run", state, "person") if name in words}
    assert {operation.path.rpartition("/")[2] for operation in RUN_DETAIL if operation.method == "POST"} == set(
        words.values()
    )
    for role in ACTING:
        assert await offered(door, role, path, path) == expected, role
    for role in READING:
        assert await offered(door, role, path, path) == set(), role


@pytest.mark.parametrize("state", [state for state in TaskState if state in ENDED or state in ("pending", "paused")])
async def test_buttons_of_a_task(door: Door, state: TaskState):
    records = door.platform.records
    run = await start_run(records, "https://a.example/")
    await add_urls(records, run, "a.example", 1)
    if state in ENDED:
        await end_urls(records, ((state, "test"),))
    [task] = await records.tasks.find(run_id=run.id)
    if state == "paused":
        await door.platform.lifecycle.tasks.move_all(TaskOrder("pause"), [task.id])
    path = f"/console/tasks/{task.id}"
    for role in ACTING:
        assert await offered(door, role, path, path) == set(orders_of(state, has_page=False)) - ASKED_APART, role
    for role in READING:
        assert await offered(door, role, path, path) == set(), role
    async with log_in(door) as client:
        token = csrf((await client.get(path)).text)
        for name in set(TASK_BUTTONS) - set(orders_of(state, has_page=False)):
            assert (await client.post(f"{path}/{name}", data={"csrf": token})).status_code == 409, (state, name)
    assert set(TASK_BUTTONS) == set(ORDERS)
