import pytest

from longline.model.errors import RoleUnstaffed
from longline.model.frontier.worker import ALIVE_MS, START_SECONDS
from longline.ports.records import Records
from longline.services.health import Check, Health
from longline.services.metrics.worker_liveness import WorkerLiveness
from longline.testing.clock import FakeClock


@pytest.fixture
def workers(records: Records, clock: FakeClock) -> WorkerLiveness:
    return WorkerLiveness(records.workers, records.figures, clock)


async def test_workers_are_counted_by_role_until_their_heartbeats_stop(
    workers: WorkerLiveness, records: Records, clock: FakeClock
):
    await records.workers.join("a:1", "fetch,parse,upkeep", "m1")
    second = await records.workers.join("a:2", "fetch,parse", "m2")
    assert await workers.alive() == {"fetch": 2, "parse": 2, "upkeep": 1}
    clock.advance(ALIVE_MS / 1000 + 1)
    await records.workers.beat(second)
    assert await workers.alive() == {"fetch": 1, "parse": 1, "upkeep": 0}


async def test_health_is_degraded_without_a_worker_for_a_role(
    workers: WorkerLiveness, records: Records, clock: FakeClock
):
    health = Health([Check("workers", workers.check)], clock)
    await records.workers.join("a:1", "fetch", "m1")
    assert (await health.report()).status == "healthy", "workers may still be starting"
    clock.advance(START_SECONDS + 1)
    await records.workers.join("a:2", "fetch", "m2")
    with pytest.raises(RoleUnstaffed, match="role parse or upkeep; start one: longline worker --roles parse,upkeep"):
        await workers.check()
    report = await health.report()
    told = "no living worker has the role parse or upkeep; start one: longline worker --roles parse,upkeep"
    assert (report.status, report.checks["workers"].error) == ("degraded", told)
    await records.workers.join("a:3", "parse,upkeep", "m3")
    report = await health.report()
    assert (report.status, report.checks["workers"].detail) == ("healthy", "fetch 1, parse 1, upkeep 1")


async def test_only_roles_of_the_configuration_are_missed(records: Records, clock: FakeClock):
    workers = WorkerLiveness(records.workers, records.figures, clock, frozenset({"upkeep"}))
    await records.workers.join("a:1", "upkeep", "m1")
    clock.advance(START_SECONDS + 1)
    await records.workers.join("a:2", "upkeep", "m2")
    assert await workers.check() == "fetch 0, parse 0, upkeep 1"
