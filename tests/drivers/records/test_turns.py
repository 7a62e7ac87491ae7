"""Several runs at one host, on both engines: best priority first, and in turn for equal priorities."""

from collections import Counter
from collections.abc import Sequence

import pytest

from longline.model.frontier.host import HostLease
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, ClaimRequest
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    ME,
    TTL,
    admit,
    claim,
    ended,
    host_report,
    release,
    report,
    running_run,
    url,
    urls,
)

HOST = "a.example"


async def rivals(records: Records, *amounts: int, **more: object) -> list[int]:
    """Start runs with that many open tasks at one host, one after the other; return their ids."""
    found = []
    for amount in amounts:
        run = await running_run(records)
        await admit(records, *urls(run, HOST, amount, **more))
        found.append(run.id)
    return found


async def batch(records: Records, tasks: int) -> HostLease:
    """Claim the host with a batch of its tasks."""
    leases = await claim(records, tasks=tasks)
    assert list(leases) == [HOST]
    return leases[HOST]


async def served(records: Records, tasks: int) -> list[int]:
    """Claim and complete a batch; return the run of each task, in their order."""
    lease = await batch(records, tasks)
    assert not (await report(records, host_report(lease))).refused
    return [task.run_id for task in lease.tasks]


def rounds(runs: Sequence[int], amount: int) -> list[set[int]]:
    return [set(runs[i : i + amount]) for i in range(0, len(runs), amount)]


async def test_a_small_run_gets_half_although_a_large_one_was_first(records: Records):
    (large,) = await rivals(records, 60)
    await served(records, 10)
    (small,) = await rivals(records, 10)
    assert rounds(await served(records, 20), 2) == [{large, small}] * 10
    assert set(await served(records, 40)) == {large}, "a run without tasks is not waited for"


async def test_five_runs_take_turns_and_an_ended_one_leaves_its_share_to_the_others(records: Records):
    *runs, short = await rivals(records, 30, 30, 30, 30, 2)
    got = await served(records, 22)
    assert rounds(got[:10], 5) == [{*runs, short}] * 2
    assert rounds(got[10:], 4) == [set(runs)] * 3


@pytest.mark.parametrize("tasks", [1, 2, 3])
async def test_batches_smaller_than_the_number_of_runs_are_fair_too(records: Records, tasks: int):
    runs = await rivals(records, 30, 30, 30, 30, 30)
    got = Counter([run for _ in range(10) for run in await served(records, tasks)])
    assert got == dict.fromkeys(runs, 2 * tasks)


async def test_inside_a_run_the_order_of_admission_stays(records: Records):
    await rivals(records, 4, 4)
    lease = await batch(records, 8)
    for run_id in {task.run_id for task in lease.tasks}:
        own = [task.url[-2:] for task in lease.tasks if task.run_id == run_id]
        assert own == ["/0", "/1", "/2", "/3"]


async def test_a_claim_for_a_host_in_hand_gets_the_tasks_of_a_later_run(records: Records):
    await rivals(records, 2)
    lease = await batch(records, 10)
    (later,) = await rivals(records, 3)
    for got in ([later] * 3, []):
        (more,) = await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL, [(lease.host_id, lease.token)]))
        assert [task.run_id for task in more.tasks] == got


async def test_a_better_priority_comes_first_in_every_run(records: Records):
    first, second = await rivals(records, 10, 10)
    await admit(records, *(url(second, path=f"/urgent{i}", priority=1) for i in range(3)))
    await admit(records, url(first, path="/sooner", priority=1), url(first, path="/late", priority=900))
    lease = await batch(records, 12)
    urgent, rest = lease.tasks[:4], lease.tasks[4:]
    assert [task.priority for task in lease.tasks] == [1] * 4 + [500] * 8
    assert [{t.run_id for t in urgent[:2]}, [t.run_id for t in urgent[2:]]] == [{first, second}, [second] * 2]
    assert rounds([task.run_id for task in rest], 2) == [{first, second}] * 4


async def test_one_run_with_many_priorities_fills_its_batch_in_their_order(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{p}", priority=p % 80) for p in range(160)))
    assert [task.priority for task in (await batch(records, 100)).tasks] == [p // 2 for p in range(100)]


async def test_a_cancelled_run_loses_its_turns(records: Records, clock: FakeClock, peek: Peek):
    first, second, third = await rivals(records, 20, 20, 20)
    change = Change("run", second, "cancel", "running", "cancelled", "person")
    assert await records.moves.apply(change)
    assert rounds(await served(records, 8), 2) == [{first, third}] * 4
    assert await faults(peek, clock.now()) == []


async def test_paused_tasks_lose_their_turns_until_they_are_resumed(records: Records, clock: FakeClock, peek: Peek):
    first, second = await rivals(records, 9, 3)
    held = [task.id for task in await records.tasks.find(run_id=second)]
    for task_id in held:
        assert await records.moves.apply(Change("task", task_id, "pause", "pending", "paused", "person"))
    assert set(await served(records, 4)) == {first}
    for task_id in held:
        assert await records.moves.apply(Change("task", task_id, "resume", "paused", "pending", "person"))
    assert rounds(await served(records, 6), 2) == [{first, second}] * 3
    assert await faults(peek, clock.now()) == []


async def test_retries_wait_for_their_time_and_then_take_turns(records: Records, clock: FakeClock, peek: Peek):
    large, small = await rivals(records, 50, 2)
    lease = await batch(records, 4)
    due = clock.now() + 5_000
    retries = [
        ended(t, TaskState.PENDING, "reset", due=due) if t.run_id == small else ended(t, TaskState.COMPLETED)
        for t in lease.tasks
    ]
    await report(records, host_report(lease, retries))
    clock.advance(4.999)
    assert set(await served(records, 10)) == {large}, "no retry before its time"
    clock.advance(0.001)
    assert rounds(await served(records, 6), 2) == [{large, small}] * 2 + [{large}]
    assert await faults(peek, clock.now()) == []


async def test_a_retry_does_not_wait_for_the_later_tasks_of_its_run(records: Records, clock: FakeClock):
    (run,) = await rivals(records, 20)
    lease = await batch(records, 1)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.PENDING, "reset", due=clock.now() + 1)]))
    clock.advance(0.001)
    again = await batch(records, 4)
    assert [(task.id == lease.tasks[0].id, task.run_id) for task in again.tasks] == [(True, run)] + [(False, run)] * 3


async def test_a_host_wakes_for_the_first_due_run(records: Records, clock: FakeClock):
    late, early = await running_run(records), await running_run(records)
    await admit(records, url(late, due=clock.now() + 9_000), url(early, due=clock.now() + 5_000))
    clock.advance(5)
    lease = await batch(records, 10)
    assert [task.run_id for task in lease.tasks] == [early.id]
    await release(records, lease)
    assert await served(records, 10) == [early.id]
    assert await claim(records) == {}
    clock.advance(4)
    assert await served(records, 10) == [late.id]


async def test_of_very_many_runs_the_oldest_take_turns_and_all_are_served(records: Records):
    runs = await rivals(records, *[1] * 60)
    got = [await served(records, 20) for _ in range(3)]
    assert set(got[0]) < set(runs[:50])
    assert sorted(run for each in got for run in each) == runs


async def test_no_task_is_lost_or_served_twice(records: Records, clock: FakeClock, peek: Peek):
    await rivals(records, 7, 40, 1, 23)
    seen: Counter[int] = Counter()
    for step in range(40):
        leases = await claim(records, tasks=1 + step % 5)
        for lease in leases.values():
            done, back = lease.tasks[:2], lease.tasks[2:]
            seen.update(task.id for task in done)
            await report(records, host_report(lease, [ended(task) for task in done], unstarted=back))
        assert await faults(peek, clock.now()) == []
    assert set(seen.values()) == {1}
    assert len(seen) == 71


async def test_a_claim_for_a_host_with_all_tasks_in_hand_gets_none(records: Records):
    run = await running_run(records)
    await admit(records, url(run, HOST, "/first"), url(run, HOST, "/second", priority=900))
    lease = await batch(records, 10)
    assert len(lease.tasks) == 2
    again = await records.frontier.claim(ClaimRequest(1, 10, 10, 30_000, [(lease.host_id, lease.token)]))
    assert [task for each in again for task in each.tasks] == []
