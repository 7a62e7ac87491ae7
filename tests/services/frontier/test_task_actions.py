"""Orders of people for tasks of workers and of bots, on both engines."""

import pytest

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.bots.bot_task import BotAnswer, NewBotTask, Pull
from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.errors import BadInput, IllegalMove, NotFound
from longline.model.states import TaskState, legal
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting
from longline.services.frontier.task_actions import ORDERS, TaskOrders, orders_of
from longline.services.frontier.task_moves import MAX_TASKS_PER_CALL
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim, claim_one, ended, host_report, report, running_run, urls


@pytest.fixture
def orders(records: Records) -> TaskOrders:
    return TaskOrders(Lifecycle(records), BotLifecycle(records), records)


async def tasks_of_worker(records: Records, count: int = 1) -> list[int]:
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", count))
    return [task.id for task in await records.tasks.find(run_id=run.id)]


async def tasks_of_bots(records: Records, count: int) -> list[int]:
    tasks = [NewBotTask(f"https://b.example/{n}", "b.example", 500, 3, 600_000) for n in range(count)]
    return await records.bot_tasks.add(tasks, [HostSetting("b.example", 0, 1)])


async def state_of(records: Records, task_id: int) -> str:
    task = await records.tasks.get(task_id)
    assert task is not None
    return task.state


def test_an_order_is_offered_only_in_states_with_its_move():
    for state in TaskState:
        offered = orders_of(state, has_page=True)
        moves = {ORDERS[name].move_from(state) for name in offered}
        assert moves <= set(legal("task", state, "person")), state
        assert ("release" in offered) == (state in ("queued", "crawling", "parsing"))
        assert ("expire" in offered) == (state == "crawling")
    assert {name for state in TaskState for name in orders_of(state, has_page=True)} == set(ORDERS)
    for state in TaskState:
        assert set(orders_of(state, has_page=True)) - set(orders_of(state, has_page=False)) <= {"reparse"}, state
        assert "reparse" not in orders_of(state, has_page=False), state


async def test_a_released_task_of_a_worker_is_pending_and_its_report_is_refused(records: Records, orders: TaskOrders):
    held, free = await tasks_of_worker(records, 2)
    lease = (await claim(records, tasks=1))["a.example"]
    held, free = (held, free) if lease.tasks[0].id == held else (free, held)
    first, second = await orders.give("release", [held, free])
    assert (first.was, first.became, first.error) == ("queued", "pending", None)
    assert second.became is None
    assert isinstance(second.error, IllegalMove)
    assert (await report(records, host_report(lease, [ended(lease.tasks[0])]))).refused
    assert await state_of(records, held) == "pending"


async def test_a_task_marked_pending_keeps_its_attempts(records: Records, orders: TaskOrders, clock: FakeClock):
    [task_id] = await tasks_of_worker(records)
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.FAILED, "http_5xx")]))
    [done] = await orders.give("pending", [task_id], "the site is back")
    assert (done.was, done.became) == ("failed", "pending")
    clock.advance(3600)
    again = await claim_one(records)
    assert again.tasks[0].attempt == 2
    await report(records, host_report(again, [ended(again.tasks[0], TaskState.FAILED, "http_5xx")]))
    await orders.give("restart", [task_id])
    clock.advance(3600)
    assert (await claim_one(records)).tasks[0].attempt == 1


async def test_locks_of_bots_are_reset_or_expired_and_other_tasks_stay(records: Records, orders: TaskOrders):
    first, second, third = await tasks_of_bots(records, 3)
    [pulled] = await records.bot_tasks.pull([Pull("x", None, 2)])
    assert [task.id for task in pulled.tasks] == [first, second]
    [expired, not_held] = await orders.give("expire", [first, third])
    assert (expired.was, expired.became) == ("crawling", "expired")
    assert isinstance(not_held.error, IllegalMove)
    [released] = await orders.give("release", [second])
    assert (released.was, released.became) == ("crawling", "pending")
    assert [await state_of(records, one) for one in (first, second, third)] == ["expired", "pending", "pending"]
    [again] = await records.bot_tasks.pull([Pull("y", None, 3)])
    assert {task.id for task in again.tasks} == {first, second, third}, "each task can be pulled"


async def test_a_failed_task_of_a_bot_is_marked_pending_with_all_its_retries(records: Records, orders: TaskOrders):
    [task_id] = await tasks_of_bots(records, 1)
    for _ in range(4):
        [pulled] = await records.bot_tasks.pull([Pull("x", None, 1)])
        [task] = pulled.tasks
        await records.bot_tasks.submit([BotAnswer(task.id, task.created_at, "x", error="no price")], 0)
    assert await state_of(records, task_id) == "failed"
    [done] = await orders.give("pending", [task_id])
    assert (done.was, done.became) == ("failed", "pending")
    [pulled] = await records.bot_tasks.pull([Pull("x", None, 1)])
    assert [task.id for task in pulled.tasks] == [task_id]


async def test_a_cancelled_task_of_a_bot_is_not_pulled_again(records: Records, orders: TaskOrders):
    [task_id] = await tasks_of_bots(records, 1)
    await records.bot_tasks.pull([Pull("x", None, 1)])
    [done] = await orders.give("cancel", [task_id])
    assert (done.was, done.became) == ("crawling", "cancelled")
    assert (await records.bot_tasks.pull([Pull("y", None, 1)]))[0].tasks == []
    row = await records.bot_look.task(task_id)
    assert row is not None
    assert (row.state, row.holder) == ("cancelled", None)


async def test_every_order_writes_an_audit_row_of_its_caller(records: Records, orders: TaskOrders):
    mine, theirs = await tasks_of_worker(records), await tasks_of_bots(records, 1)
    caller = Caller("s-1", "ada", Role.ADMIN, "user")
    with audited_as(AuditContext(caller, "console", "task.pending", "again")):
        await orders.give("restart", [*theirs, *mine])
    rows = await records.audit.find(AuditFilter())
    told = [(row.subject, row.action, row.reason) for row in rows]
    assert told == [("s-1", "task.pending", "again")], "a task of a bot that waits stays as it is"
    await records.bot_tasks.pull([Pull("x", None, 1)])
    with audited_as(AuditContext(caller, "console", "task.restart", "again")):
        await orders.give("restart", [*theirs, *mine])
    assert len(await records.audit.find(AuditFilter(action="task.restart"))) == 2, "one row for each executor"


async def test_unknown_tasks_and_too_many_are_refused(orders: TaskOrders):
    [missing] = await orders.give("pending", [999])
    assert isinstance(missing.error, NotFound)
    with pytest.raises(BadInput, match="at most"):
        await orders.give("pending", list(range(MAX_TASKS_PER_CALL + 1)))
    with pytest.raises(BadInput, match="at most"):
        await orders.prioritize(list(range(MAX_TASKS_PER_CALL + 1)), 1)
