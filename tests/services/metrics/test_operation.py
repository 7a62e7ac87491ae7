import pytest

from longline.model.errors import RoleUnstaffed
from longline.ports.records import Records
from longline.services.health import Check, Health
from longline.services.metrics.operation import ALIVE_MS, START_SECONDS, OperationReader
from longline.testing.clock import FakeClock


@pytest.fixture
def operation(records: Records, clock: FakeClock) -> OperationReader:
    return OperationReader(records.tallies, records.figures, records.workers, records.sink_progress, lambda: 7, clock)


async def test_workers_are_counted_by_role_while_their_heart_beats(
    operation: OperationReader, records: Records, clock: FakeClock
):
    await records.workers.join("a:1", "fetch,parse,upkeep", "m1")
    second = await records.workers.join("a:2", "fetch,parse", "m2")
    assert (await operation.take()).workers == {"fetch": 2, "parse": 2, "upkeep": 1}
    clock.advance(ALIVE_MS / 1000 + 1)
    await records.workers.beat(second)
    assert (await operation.take()).workers == {"fetch": 1, "parse": 1, "upkeep": 0}


async def test_health_is_degraded_without_a_worker_for_a_role(
    operation: OperationReader, records: Records, clock: FakeClock
):
    health = Health([Check("workers", operation.check_workers)], clock)
    await records.workers.join("a:1", "fetch", "m1")
    assert (await health.report()).status == "healthy", "workers may still be starting"
    clock.advance(START_SECONDS + 1)
    await records.workers.join("a:2", "fetch", "m2")
    with pytest.raises(RoleUnstaffed, match="role parse or upkeep; start one: longline worker --roles parse,upkeep"):
        await operation.check_workers()
    report = await health.report()
    assert (report.status, report.checks["workers"].error) == ("degraded", "no worker")
    await records.workers.join("a:3", "parse,upkeep", "m3")
    report = await health.report()
    assert (report.status, report.checks["workers"].detail) == ("healthy", "fetch 1, parse 1, upkeep 1")


async def test_only_roles_that_the_configuration_needs_are_missed(records: Records, clock: FakeClock):
    stores = (records.tallies, records.figures, records.workers, records.sink_progress)
    operation = OperationReader(*stores, lambda: 7, clock, frozenset({"upkeep"}))
    await records.workers.join("a:1", "upkeep", "m1")
    clock.advance(START_SECONDS + 1)
    await records.workers.join("a:2", "upkeep", "m2")
    assert await operation.check_workers() == "fetch 0, parse 0, upkeep 1"


async def test_figures_include_disk_and_connections(operation: OperationReader):
    figures = await operation.take()
    assert figures.free_disk_bytes == 7
    assert set(figures.connections) == {"busy", "idle"}
