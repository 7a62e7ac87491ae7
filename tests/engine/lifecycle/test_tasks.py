"""Moves of many tasks by people: one result for each task, in transactions of bounded size."""

from typing import Any

import pytest

from longline.drivers.records import postgres
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.tasks import BATCH_SIZE, TaskLifecycle, TaskOrder
from longline.model.errors import BadInput, IllegalMove, NotFound
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import FakeClock
from tests.drivers.records.world import ME, TTL, admit, claim_one, host_report, report, running_run, url, urls


class Calls:
    """Counts of calls to workers and schedulers."""

    def __init__(self) -> None:
        self.workers = self.schedulers = 0

    async def call_workers(self) -> None:
        self.workers += 1

    async def call_schedulers(self) -> None:
        self.schedulers += 1


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def tasks(records: Records, calls: Calls) -> TaskLifecycle:
    return Lifecycle(records, None, calls.call_workers, calls.call_schedulers).tasks


async def ids_of(records: Records, run_id: int) -> list[int]:
    return [task.id for task in await records.tasks.find(run_id=run_id, limit=10_000)]


async def test_each_task_gets_a_result_in_the_given_order(records: Records, tasks: TaskLifecycle):
    run, stopped = await running_run(records), await running_run(records)
    await admit(records, *urls(run, "a.example", 2), url(stopped, "b.example"))
    one, two = await ids_of(records, run.id)
    [other] = await ids_of(records, stopped.id)
    await records.moves.apply(Change("run", stopped.id, "cancel", "running", "cancelled", "person"))
    answers = await tasks.move_all(TaskOrder("restart"), [4711, two, other, one, two])
    assert [(a.task_id, a.was, a.became) for a in answers] == [
        (4711, None, None),
        (two, "pending", "pending"),
        (other, "cancelled", None),
        (one, "pending", "pending"),
    ], "a task that is named twice is moved once"
    assert isinstance(answers[0].error, NotFound)
    assert str(answers[2].error) == "cannot reopen a run that is cancelled; legal now: nothing"
    [resumed, parsed] = [(await tasks.move_all(TaskOrder(name), [one]))[0] for name in ("resume", "reparse")]
    assert str(resumed.error) == "cannot resume a task that is pending; legal now: pause, cancel, restart, reparse"
    assert isinstance(parsed.error, IllegalMove)
    assert "cannot reparse a task that is pending without a stored page" in str(parsed.error)


@pytest.mark.parametrize(("name", "actor"), [("claim", "worker"), ("complete", "worker"), ("pause", "worker")])
async def test_only_moves_of_people_and_upkeep_are_made_for_many(tasks: TaskLifecycle, name: str, actor: Any):
    with pytest.raises(BadInput, match=f"a {actor} cannot {name} many tasks at once"):
        await tasks.move_all(TaskOrder(name, actor), [1])


async def test_workers_are_called_if_tasks_wait_again(records: Records, tasks: TaskLifecycle, calls: Calls):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    ids = await ids_of(records, run.id)
    await tasks.move_all(TaskOrder("pause"), ids)
    assert calls.workers == 0
    await tasks.move_all(TaskOrder("resume"), ids)
    await tasks.move_all(TaskOrder("resume"), ids)
    assert calls.workers == 1, "workers are not called if no task was moved"


async def test_schedulers_are_called_if_a_run_of_a_schedule_is_done(
    records: Records, tasks: TaskLifecycle, calls: Calls
):
    await records.schedules.add(NewSchedule(new_id(), "https://a.example/", next_due=0))
    [tick] = await records.ticks.start(ME, 1, TTL)
    run = tick.run
    await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    await admit(records, *urls(run, "a.example", 2))
    await tasks.move_all(TaskOrder("cancel"), await ids_of(records, run.id))
    assert calls.schedulers == 1


async def test_priorities_of_many_tasks(records: Records, tasks: TaskLifecycle, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    ids = await ids_of(records, run.id)
    lease = await claim_one(records)
    assert [(p.was, p.became, p.at_next_rest) for p in await tasks.prioritize_all(ids, 7)] == [(500, 7, True)] * 3
    await report(records, host_report(lease, [], unstarted=lease.tasks))
    await Lifecycle(records).reap()
    clock.advance(60)
    assert {task.priority for task in (await claim_one(records)).tasks} == {7}, (
        "the reaper applies priorities that a release left"
    )


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the statements that are sent to PostgreSQL."""
    sent: list[str] = []
    for kind in ("all", "batch"):
        plain = getattr(postgres.PostgresTransaction, kind)

        async def noted(self: Any, name: str, /, *args: Any, plain: Any = plain, **params: Any) -> Any:
            if not args or args[0]:
                sent.append(name)
            return await plain(self, name, *args, **params)

        monkeypatch.setattr(postgres.PostgresTransaction, kind, noted)
    return sent


@pytest.mark.slow(reason="ten thousand tasks")
@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_ten_thousand_restarts_cost_the_same_for_each_batch(records: Records, statements: list[str]):
    run = await running_run(records)
    for start in range(0, 10_000, 2000):
        await admit(records, *(url(run, f"h{n % 50}.example", f"/{n}") for n in range(start, start + 2000)))
    ids = [task.id for task in await records.tasks.find(run_id=run.id, limit=10_000)]
    costs = {}
    for amount in (1000, 10_000):
        statements.clear()
        results = await TaskLifecycle(records).move_all(TaskOrder("restart"), ids[:amount])
        assert len([one for one in results if one.became == "pending"]) == amount
        costs[amount] = len(statements) / (amount / BATCH_SIZE)
        print(f"{amount} restarts: {len(statements)} statements, {costs[amount]:g} for each batch of {BATCH_SIZE}")
    assert costs[1000] == costs[10_000] <= 15
