"""Maintenance tasks by order, on both engines."""

import pytest

from longline.engine.maintenance import MaintenanceRunner, MaintenanceTask
from longline.model.errors import BadInput, Conflict, NotFound
from longline.model.maintenance.maintenance_run import MaintenanceResult
from longline.ports.records import Records
from longline.services.maintenance import Maintenance
from longline.testing.clock import FakeClock


@pytest.fixture
def service(records: Records, clock: FakeClock) -> Maintenance:
    async def work() -> MaintenanceResult:
        return MaintenanceResult(1)

    tasks = {key: MaintenanceTask(key, "Tidy up.", "0 0 * * *", work) for key in ("b", "a")}
    return Maintenance(MaintenanceRunner(tasks, records.maintenance, clock), records.maintenance, clock)


async def test_tasks_are_listed_with_their_times_and_last_runs(service: Maintenance, clock: FakeClock):
    done = await service.run_now("a", None)
    assert (done.state, done.rows_changed) == ("completed", 1)
    first, second = await service.tasks()
    assert (first.key, first.last, second.key, second.last) == ("a", done, "b", None)
    assert first.schedule.next_at > clock.now()


async def test_a_task_has_at_most_one_open_run(service: Maintenance):
    await service.order("a", None)
    with pytest.raises(Conflict):
        await service.order("a", None)
    with pytest.raises(Conflict):
        await service.run_now("a", None)
    await service.order("b", None)
    assert (await service.cancel("a")).state == "cancelled"
    with pytest.raises(Conflict):
        await service.cancel("a")


async def test_times_are_changed(service: Maintenance):
    changed = await service.reschedule("a", " 5  0 * * * ", False)
    assert (changed.cron, changed.enabled) == ("5 0 * * *", False)
    kept = await service.reschedule("a", None, True)
    assert (kept.cron, kept.enabled) == ("5 0 * * *", True)
    with pytest.raises(BadInput, match="Invalid cron expression"):
        await service.reschedule("a", "often", None)


async def test_an_unknown_task_is_not_found(service: Maintenance):
    for work in (service.order("c", None), service.cancel("c"), service.reschedule("c", None, None)):
        with pytest.raises(NotFound):
            await work
