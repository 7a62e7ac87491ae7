"""The runner of maintenance tasks, on both engines."""

import asyncio

import pytest

from longline.engine import maintenance
from longline.engine.maintenance import MaintenanceRunner, MaintenanceTask
from longline.model.errors import BadInput
from longline.model.maintenance.cron import Cron
from longline.model.maintenance.maintenance_run import LEASE_MS, MaintenanceResult, MaintenanceState
from longline.ports.records import Records
from longline.testing.clock import FakeClock

EVERY_HOUR = "0 * * * *"


class Worked:
    """A task that counts its runs."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self) -> MaintenanceResult:
        self.times += 1
        return MaintenanceResult(3, '{"made":["x"]}')


def runner(records: Records, clock: FakeClock, work: maintenance.Work) -> MaintenanceRunner:
    task = MaintenanceTask("tidy", "Tidy up.", EVERY_HOUR, work)
    return MaintenanceRunner({task.key: task}, records.maintenance, clock)


def hour(clock: FakeClock) -> float:
    return (Cron.parse(EVERY_HOUR).next_after(clock.now()) - clock.now()) / 1000


async def test_a_task_runs_by_cron_once_among_several_processes(records: Records, clock: FakeClock):
    work = Worked()
    runners = [runner(records, clock, work) for _ in range(3)]
    assert [await each.once() for each in runners] == [0, 0, 0]
    clock.advance(hour(clock))
    assert sum(await asyncio.gather(*(each.once() for each in runners))) == 1
    assert work.times == 1
    [run] = (await records.maintenance.latest(["tidy"])).values()
    assert (run.state, run.rows_changed, run.facts, run.caller_id) == ("completed", 3, '{"made":["x"]}', None)
    clock.advance(hour(clock))
    assert await runners[0].once() == 1


async def test_a_failed_task_stops_no_other_and_has_its_error(records: Records, clock: FakeClock):
    async def breaks() -> MaintenanceResult:
        raise ZeroDivisionError("broken")

    async def refuses() -> MaintenanceResult:
        raise BadInput("the disk is full")

    for work, told in ((breaks, "ZeroDivisionError: broken"), (refuses, "the disk is full")):
        await records.maintenance.add("tidy", ("me", "Me"), MaintenanceState.QUEUED, LEASE_MS)
        assert await runner(records, clock, work).once() == 1
        [run] = (await records.maintenance.latest(["tidy"])).values()
        assert (run.state, run.error, run.caller_id) == ("failed", told, "me")


async def test_a_cancelled_run_is_stopped_and_its_result_dropped(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(maintenance, "CANCELLATION_INTERVAL_SECONDS", 0.01)
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def slow() -> MaintenanceResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return MaintenanceResult()

    await records.maintenance.add("tidy", None, MaintenanceState.QUEUED, LEASE_MS)
    working = asyncio.create_task(runner(records, clock, slow).once())
    await begun.wait()
    assert await records.maintenance.add("tidy", None, MaintenanceState.QUEUED, LEASE_MS) is None
    cancelled = await records.maintenance.cancel("tidy")
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    await working
    assert stopped.is_set()
    assert await records.maintenance.cancel("tidy") is None
    [run] = (await records.maintenance.latest(["tidy"])).values()
    assert run.state == "cancelled"


async def test_a_run_of_a_dead_process_is_replaced_after_its_lease(records: Records, clock: FakeClock):
    dead = await records.maintenance.add("tidy", None, MaintenanceState.RUNNING, LEASE_MS)
    assert dead is not None
    assert await records.maintenance.add("tidy", None, MaintenanceState.RUNNING, LEASE_MS) is None
    clock.advance(LEASE_MS / 1000 + 1)
    assert await records.maintenance.add("tidy", None, MaintenanceState.RUNNING, LEASE_MS) is not None
    assert await records.maintenance.end(dead.id, MaintenanceState.COMPLETED, MaintenanceResult()) is None
    found = await records.maintenance.get(dead.id)
    assert found is not None
    assert (found.state, found.error) == ("failed", "the lease of the run has lapsed")


async def test_a_run_of_an_unknown_task_fails(records: Records, clock: FakeClock):
    await records.maintenance.add("gone", None, MaintenanceState.QUEUED, LEASE_MS)
    assert await runner(records, clock, Worked()).once() == 1
    [run] = (await records.maintenance.latest(["gone"])).values()
    assert (run.state, run.error) == ("failed", "the task is not known")
