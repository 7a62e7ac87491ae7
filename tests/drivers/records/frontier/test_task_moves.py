"""Moves of many tasks at once, on both engines: each task is judged by itself, and withdrawn tasks are found."""

import asyncio
from typing import Any

import orjson
import pytest

from longline.drivers.records import postgres
from longline.drivers.records.database import TryAgain
from longline.model.frontier.host import HostLease
from longline.model.frontier.task import BOT, PARSE, ClaimedTask
from longline.model.states import TaskState, move
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import (
    Change,
    ClaimRequest,
    Prioritized,
    TaskChange,
    TaskMove,
    WrittenSegment,
)
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
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
    report,
    running_run,
    url,
    urls,
)

HOST = "a.example"


def change(name: str, **more: Any) -> TaskChange:
    rule = move("task", name)
    return TaskChange(name, rule.was, rule.became, "person", **more)


async def move_all(records: Records, name: str, *task_ids: int, **more: Any) -> list[TaskMove]:
    moved, _ = await records.task_moves.move_all(change(name, **more), task_ids)
    return moved


async def tasks_of(records: Records, amount: int, **facts: Any) -> tuple[int, list[int]]:
    """Start a run with URLs of one host; return the ids of the run and its tasks."""
    run = await running_run(records)
    await admit(records, *urls(run, HOST, amount, **facts))
    return run.id, [task.id for task in await records.tasks.find(run_id=run.id, limit=1000)]


async def attempt(records: Records, clock: FakeClock, became: TaskState = TaskState.PENDING, error: str = "") -> int:
    """Work on the only task, which ends in this state; return the number of the attempt."""
    clock.advance(60)
    lease = await claim_one(records)
    [task] = lease.tasks
    outcome = ended(task, became, "timeout", error=error or f"attempt {task.attempt}")
    assert not (await report(records, host_report(lease, [outcome]))).refused
    return task.attempt


async def get(records: Records, task_id: int) -> Any:
    task = await records.tasks.get(task_id)
    assert task is not None
    return task


async def marked(records: Records, lease: HostLease, tasks: tuple[ClaimedTask, ...] | None = None) -> set[int]:
    claims = [(lease.host_id, lease.token, task) for task in (lease.tasks if tasks is None else tasks)]
    return {task_id for task_id, _ in await records.task_moves.marked(claims)}


# -- each by itself ---------------------------------------------------------------------------------------------


async def test_each_task_is_judged_by_itself(records: Records, peek: Peek, clock: FakeClock):
    run_id, (waits, done, paused, failed) = await tasks_of(records, 4)
    other, (stopped,) = await tasks_of(records, 1)
    lease = await claim_one(records)
    by_id = {task.id: task for task in lease.tasks}
    outcomes = [ended(by_id[done]), ended(by_id[failed], TaskState.FAILED, "http_404")]
    rest = tuple(by_id[i] for i in (waits, paused, stopped))
    await report(records, host_report(lease, outcomes, unstarted=rest))
    await move_all(records, "pause", paused)
    await records.moves.apply(Change("run", other, "cancel", "running", "cancelled", "person"))
    assert await move_all(records, "pause", done, waits, 4711, paused) == [
        TaskMove(done, "completed"),
        TaskMove(waits, "pending", "paused"),
        TaskMove(4711),
        TaskMove(paused, "paused"),
    ]
    assert await move_all(records, "restart", failed, stopped, done, waits) == [
        TaskMove(failed, "failed", "pending"),
        TaskMove(stopped, "cancelled", run_state="cancelled"),
        TaskMove(done, "completed", "pending"),
        TaskMove(waits, "paused", "pending"),
    ]
    assert (await get_run(records, run_id)).open == 4
    assert (await get_run(records, other)).state == "cancelled"
    assert await faults(peek, clock.now()) == []


async def test_a_batch_is_one_event_of_each_run_with_its_reason(records: Records):
    run_id, ids = await tasks_of(records, 3)
    await move_all(records, "cancel", *ids[:2], reason="no need")
    event = [e for e in await records.events.find() if e.moves][-1]
    assert (event.noun, event.subject, event.actor) == ("run", run_id, "person")
    assert orjson.loads(event.moves or "") == [[i, "pending", "cancelled", "no need"] for i in ids[:2]]
    assert [(f.fate, f.reason, f.count) for f in await records.runs.fates(run_id)] == [("cancelled", "no need", 2)]


async def test_cancelling_the_last_tasks_ends_their_runs_and_restarting_opens_them(
    records: Records, peek: Peek, clock: FakeClock
):
    runs = [await tasks_of(records, 2) for _ in range(3)]
    ids = [task_id for _, tasks in runs for task_id in tasks]
    await move_all(records, "cancel", *ids)
    assert {(await get_run(records, run_id)).state for run_id, _ in runs} == {"completed"}
    assert all(one.became for one in await move_all(records, "restart", *ids))
    assert {(await get_run(records, run_id)).state for run_id, _ in runs} == {"running"}
    assert await peek.value("SELECT COUNT(*) FROM queue") == 6
    assert await faults(peek, clock.now()) == []


async def test_a_task_without_a_page_cannot_be_parsed_again(records: Records):
    _, (task_id,) = await tasks_of(records, 1)
    assert await move_all(records, "reparse", task_id) == [TaskMove(task_id, "pending", without_page=True)]


# -- attempts and errors ----------------------------------------------------------------------------------------


async def test_pause_and_resume_keep_attempts_and_error(records: Records, clock: FakeClock):
    _, (task_id,) = await tasks_of(records, 1)
    assert [await attempt(records, clock) for _ in range(2)] == [1, 2]
    await move_all(records, "pause", task_id)
    task = await get(records, task_id)
    assert (task.state, task.attempt, task.error) == ("paused", 2, "attempt 2")
    await move_all(records, "resume", task_id)
    task = await get(records, task_id)
    assert (task.state, task.attempt, task.error) == ("pending", 2, "attempt 2")
    assert await attempt(records, clock) == 3, "the third failure is the third"


@pytest.mark.parametrize("hold", [False, True])
async def test_a_task_paused_in_hand_keeps_its_attempts(records: Records, clock: FakeClock, *, hold: bool):
    _, (task_id,) = await tasks_of(records, 1)
    assert [await attempt(records, clock) for _ in range(2)] == [1, 2]
    clock.advance(60)
    lease = await claim_one(records)
    assert lease.tasks[0].attempt == 3
    assert await move_all(records, "pause", task_id) == [TaskMove(task_id, "queued", "paused")]
    if not hold:
        assert not (await report(records, host_report(lease, []))).refused
    await move_all(records, "resume", task_id)
    held = [(lease.host_id, lease.token)] if hold else []
    [again] = await records.frontier.claim(ClaimRequest(ME, 5, 5, TTL, held))
    assert [task.attempt for task in again.tasks] == [3], "an attempt that was not reported is not counted"


@pytest.mark.parametrize("keep", [False, True])
async def test_a_restart_counts_from_the_start_unless_it_keeps_the_count(
    records: Records, clock: FakeClock, *, keep: bool
):
    _, (task_id,) = await tasks_of(records, 1)
    assert [await attempt(records, clock) for _ in range(2)] == [1, 2]
    assert await attempt(records, clock, TaskState.FAILED) == 3
    await move_all(records, "restart", task_id, keep_attempts=keep)
    task = await get(records, task_id)
    assert (task.attempt, task.error) == (3 if keep else 0, None)
    assert await attempt(records, clock) == (4 if keep else 1)


@pytest.mark.parametrize("keep", [False, True])
async def test_a_page_is_parsed_again_with_or_without_its_count(records: Records, clock: FakeClock, *, keep: bool):
    _, (task_id,) = await tasks_of(records, 1)
    assert [await attempt(records, clock) for _ in range(2)] == [1, 2]
    clock.advance(60)
    lease, segment = await claim_one(records), await records.segments.begin("key", ME)
    outcome = ended(lease.tasks[0], page=page())
    assert not (await report(records, host_report(lease, [outcome]), segment=WrittenSegment(segment, 1, 100))).refused
    await move_all(records, "reparse", task_id, keep_attempts=keep)
    [taken] = await records.hands.take(PARSE, ME, 1, TTL)
    assert (taken.task.id, taken.task.attempt) == (task_id, 4 if keep else 1)


async def test_a_restart_may_set_due_time_and_priority(records: Records, clock: FakeClock, peek: Peek):
    _, ids = await tasks_of(records, 3)
    await move_all(records, "restart", ids[2], priority=1)
    await move_all(records, "restart", ids[0], due=clock.now() + 5000)
    lease = await claim_one(records)
    assert [task.id for task in lease.tasks] == [ids[2], ids[1]]
    assert await faults(peek, clock.now()) == []


# -- tasks in hand ----------------------------------------------------------------------------------------------


async def test_withdrawn_tasks_are_listed_for_their_worker(records: Records, peek: Peek, clock: FakeClock):
    run_id, ids = await tasks_of(records, 6)
    lease = await claim_one(records)
    assert await records.task_moves.withdrawals(ME) == {}
    await records.task_moves.prioritize({ids[5]: 1})
    await move_all(records, "pause", *ids[:2])
    await move_all(records, "cancel", ids[2])
    assert await records.task_moves.withdrawals(ME) == {(lease.host_id, lease.token): 2}
    assert await records.task_moves.withdrawals(YOU) == {}
    assert await marked(records, lease) == set(ids[3:])
    assert (await report(records, host_report(lease))).gone == set(ids[:3])
    await records.moves.apply(Change("run", run_id, "cancel", "running", "cancelled", "person"))
    assert await records.task_moves.withdrawals(ME) == {(lease.host_id, lease.token): 3}, "the run stops"
    assert await marked(records, lease) == set()
    assert await faults(peek, clock.now()) == []


async def test_a_waiting_task_is_not_withdrawn(records: Records, clock: FakeClock):
    _, ids = await tasks_of(records, 3)
    lease = (await claim(records, tasks=1))[HOST]
    await move_all(records, "pause", *ids[1:])
    assert await records.task_moves.withdrawals(ME) == {}
    await move_all(records, "pause", ids[0])
    await report(records, host_report(lease, []))
    await move_all(records, "resume", *ids)
    clock.advance(60)
    again = await claim_one(records)
    assert await records.task_moves.withdrawals(ME) == {}, "each claim counts from the start"
    assert await marked(records, again) == set(ids)


@pytest.mark.parametrize("moves", [("restart",), ("pause", "resume"), ("cancel", "restart")])
async def test_the_report_of_a_withdrawn_task_is_refused_even_when_the_worker_has_it_again(
    records: Records, clock: FakeClock, moves: tuple[str, ...]
):
    _, (task_id, _) = await tasks_of(records, 2)
    lease = await claim_one(records)
    clock.advance(0.5)
    for name in moves:
        await move_all(records, name, task_id)
    [more] = await records.frontier.claim(ClaimRequest(ME, 5, 5, TTL, [(lease.host_id, lease.token)]))
    assert ([task.id for task in more.tasks], more.token) == ([task_id], lease.token)
    assert await marked(records, lease, lease.tasks[:1]) == set()
    assert await marked(records, more) == {task_id}
    assert (await report(records, host_report(lease, [ended(lease.tasks[0])], release=False))).gone == {task_id}
    assert not (await report(records, host_report(lease, [ended(more.tasks[0])], release=False))).refused


# -- priorities -------------------------------------------------------------------------------------------------


async def test_a_waiting_task_moves_in_its_queue(records: Records, peek: Peek, clock: FakeClock):
    _, ids = await tasks_of(records, 3, priority=5)
    assert await records.task_moves.prioritize({ids[2]: 1, 4711: 1}) == [Prioritized(ids[2], 5, 1)]
    assert await faults(peek, clock.now()) == []
    assert [task.id for task in (await claim_one(records)).tasks] == [ids[2], ids[0], ids[1]]


@pytest.mark.parametrize("became", [TaskState.PENDING, TaskState.QUEUED_PARSE, TaskState.COMPLETED])
async def test_a_task_in_hand_gets_its_priority_when_it_rests(
    records: Records, peek: Peek, clock: FakeClock, became: TaskState
):
    _, (task_id,) = await tasks_of(records, 1, priority=5)
    lease = await claim_one(records)
    assert await records.task_moves.prioritize({task_id: 1}) == [Prioritized(task_id, 5, 1, at_next_rest=True)]
    assert (await get(records, task_id)).priority == 1, "lists show the new priority"
    assert await records.task_moves.prioritize({task_id: 2}) == [Prioritized(task_id, 1, 2, at_next_rest=True)]
    assert await records.task_moves.withdrawals(ME) == {}
    assert not (await report(records, host_report(lease, [ended(lease.tasks[0], became)]))).refused
    assert await peek.rows("SELECT priority, next_priority FROM tasks") == [(2, None)]
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("lost", [False, True])
async def test_a_task_that_is_given_back_unstarted_gets_its_priority(
    records: Records, peek: Peek, clock: FakeClock, *, lost: bool
):
    _, ids = await tasks_of(records, 3, priority=5)
    lease = await claim_one(records)
    await records.task_moves.prioritize({ids[2]: 1})
    assert await records.task_moves.apply_priorities(10) == 0, "the task is in hand"
    if lost:
        clock.advance(TTL / 1000 + 1)
        await records.frontier.reap(10)
    else:
        await report(records, host_report(lease, [], unstarted=lease.tasks))
    assert await records.task_moves.apply_priorities(10) == 1
    assert await records.task_moves.apply_priorities(10) == 0
    assert await faults(peek, clock.now()) == []
    clock.advance(60)
    assert next(task.id for task in (await claim_one(records)).tasks) == ids[2]


async def test_offers_and_ended_tasks_get_their_priority_at_once(records: Records, peek: Peek, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run, path="/bot", executor=BOT), url(run, path="/done"))
    bot, done = (task.id for task in await records.tasks.find(run_id=run.id))
    await report(records, host_report(await claim_one(records)))
    await records.hands.take(BOT, ME, 1, TTL)
    assert await records.task_moves.prioritize({bot: 1, done: 2}) == [
        Prioritized(bot, 500, 1),
        Prioritized(done, 500, 2),
    ]
    assert await peek.rows("SELECT id, priority FROM offers") == [(bot, 1)]
    assert (await get(records, done)).priority == 2
    assert await faults(peek, clock.now()) == []


async def test_a_move_of_a_task_in_hand_brings_its_new_priority(records: Records, peek: Peek, clock: FakeClock):
    _, (task_id,) = await tasks_of(records, 1, priority=5)
    await claim_one(records)
    await records.task_moves.prioritize({task_id: 1})
    await move_all(records, "restart", task_id)
    assert await peek.rows("SELECT priority FROM queue") == [(1,)]
    assert await faults(peek, clock.now()) == []


# -- locks ------------------------------------------------------------------------------------------------------


@pytest.mark.slow(reason="fifty rounds of eight clients")
@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_many_clients_at_once_do_not_deadlock(
    records: Records, peek: Peek, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    # A deadlock would be tried again and remain unnoticed; here none may happen.
    monkeypatch.setattr(postgres, "RETRYABLE_ERRORS", (TryAgain,))
    runs = [await running_run(records) for _ in range(4)]
    for n, run in enumerate(runs):
        await admit(records, *(url(run, f"h{i % 12}.example", f"/{n}-{i}") for i in range(24)))
    ids = [task.id for task in await records.tasks.find(limit=1000)]

    async def people(number: int, turn: int) -> None:
        mine = ids[number % 3 :: 2][:: 1 if number % 2 else -1]
        for name in (("pause", "resume"), ("cancel", "restart"), ("restart", "pause"))[(number + turn) % 3]:
            await move_all(records, name, *mine)
        if turn % 5 == number:
            await records.task_moves.prioritize({task_id: 100 + turn for task_id in mine})

    async def worker(number: int) -> None:
        for _ in range(2):
            for lease in (await claim(records, number, hosts=4, tasks=20)).values():
                outcomes = [ended(task, TaskState.PENDING, "timeout") for task in lease.tasks]
                refused = await report(records, host_report(lease, outcomes))
                if refused.refused:
                    kept = [o for o in outcomes if o.task.id not in refused.gone]
                    await report(records, host_report(lease, kept))

    for turn in range(50):
        await asyncio.gather(*(people(n, turn) for n in range(5)), *(worker(n) for n in (10, 11, 12)))
        clock.advance(3600)
        await records.frontier.reap(100)
        await records.task_moves.apply_priorities(500)
    assert await faults(peek, clock.now()) == []
