"""Alerts about the platform as rows with a state, on both engines."""

import logging

import pytest

from longline.model.errors import Unavailable
from longline.model.metrics.metric import QueueFigures
from longline.model.metrics.platform_alerts import PlatformLimits
from longline.model.metrics.throughput import WorkerThroughput
from longline.model.proxies.source_alerts import CLEARED_KEPT_MS, MAX_UNSEEN_MS, Alert
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.health import Check, Health
from longline.services.metrics.platform_alerts import AlertFacts, PlatformAlerts
from longline.services.metrics.throughput import Throughput
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim_one, ended, host_report, report, running_run, urls


class Engine:
    """An engine that can be stopped."""

    def __init__(self) -> None:
        self.is_down = False

    async def probe(self) -> str:
        if self.is_down:
            raise Unavailable("no answer")
        return "fine"


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def alerts(records: Records, clock: FakeClock, engine: Engine) -> PlatformAlerts:
    return watch(records, clock, engine, "one")


def watch(records: Records, clock: FakeClock, engine: Engine, machine: str) -> PlatformAlerts:
    health = Health([Check("objects", engine.probe)], clock)
    throughput = Throughput(records.throughput, clock)
    facts = AlertFacts(records.alerts, throughput, records.figures, health, clock, machine)
    return PlatformAlerts(facts, PlatformLimits())


async def kinds(alerts: PlatformAlerts) -> list[str]:
    await alerts.once()
    return [row.kind for row in await alerts.raised()]


async def test_an_engine_that_stops_and_returns_is_one_row(
    alerts: PlatformAlerts, engine: Engine, clock: FakeClock, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "longline.services.proxies.source_alerts")
    assert await kinds(alerts) == []
    engine.is_down = True
    for _ in range(3):
        assert await kinds(alerts) == ["engine_down"]
        clock.advance(30)
    [row] = await alerts.raised()
    assert (row.state, row.subject, row.cleared_at) == ("raised", "objects", None)
    engine.is_down = False
    assert await kinds(alerts) == []
    [gone] = await alerts.cleared(5)
    assert (gone.id, gone.state, gone.since, gone.cleared_at) == (row.id, "cleared", row.since, row.since + 90_000)
    told = [record.message for record in caplog.records if record.name == "longline.services.proxies.source_alerts"]
    assert told == ["alert raised", "alert cleared"]
    engine.is_down = True
    assert await kinds(alerts) == ["engine_down"]
    assert (await alerts.raised())[0].id != row.id, "a new row for each failure"


async def test_machines_do_not_clear_the_alerts_of_others(
    records: Records, alerts: PlatformAlerts, engine: Engine, clock: FakeClock
):
    engine.is_down = True
    assert await kinds(alerts) == ["engine_down"]
    other = watch(records, clock, Engine(), "two")
    assert await kinds(other) == ["engine_down"]
    clock.advance(MAX_UNSEEN_MS / 1000 + 1)
    assert await kinds(other) == [], "the machine is gone"


async def test_a_run_is_stalled_if_none_of_its_tasks_has_moved_for_half_an_hour(
    records: Records, alerts: PlatformAlerts, clock: FakeClock
):
    run, done = await running_run(records), await running_run(records, seed="https://done.example/")
    await admit(records, *urls(run, "a.example", 2))
    clock.advance(29 * 60)
    assert "stalled_run" not in await kinds(alerts)
    clock.advance(2 * 60)
    await alerts.once()
    [row] = [one for one in await alerts.raised() if one.kind == "stalled_run"]
    assert (row.run_id, row.subject) == (run.id, str(run.id)), "a run without open tasks is not stalled"
    assert "has moved for 31 minutes, and 2 are open" in row.text
    assert done.id != run.id
    clock.advance(60)
    await alerts.once()
    assert "32 minutes" in next(one.text for one in await alerts.raised() if one.kind == "stalled_run")
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0])], unstarted=lease.tasks[1:]))
    assert "stalled_run" not in await kinds(alerts)


async def test_a_standing_run_and_an_ended_one_are_never_stalled(
    records: Records, alerts: PlatformAlerts, clock: FakeClock
):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 1))
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.FAILED, "http_4xx")]))
    clock.advance(3600)
    assert "stalled_run" not in await kinds(alerts)


async def test_failed_requests_of_a_few_raise_no_alert(records: Records, alerts: PlatformAlerts):
    few = {("requests", ""): 40, ("failures", "http_5xx"): 40}
    await records.counters.add({}, WorkerThroughput("a:1", few))
    assert await kinds(alerts) == []
    await records.counters.add({}, WorkerThroughput("a:1", {("requests", ""): 60}))
    assert await kinds(alerts) == ["failed_requests"]
    [row] = await alerts.raised()
    assert row.text == "40.0 % of 100 requests in the last 15 minutes failed, more than 10 %"
    await records.counters.add({}, WorkerThroughput("a:1", {("requests", ""): 300}))
    assert await kinds(alerts) == [], "ten percent are not more than ten percent"


async def test_a_host_that_waits_too_long_for_a_worker_raises_an_alert(
    records: Records, alerts: PlatformAlerts, clock: FakeClock
):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 1))
    clock.advance(9 * 60)
    assert "late_queue" not in await kinds(alerts)
    clock.advance(2 * 60)
    assert "late_queue" in await kinds(alerts)
    figures: QueueFigures = await records.figures.queue_figures()
    assert figures.oldest_ms > 600_000
    await claim_one(records)
    assert "late_queue" not in await kinds(alerts)


async def test_cleared_alerts_are_deleted_after_a_month(records: Records, alerts: PlatformAlerts, clock: FakeClock):
    await records.alerts.settle([Alert("low_pool", "1", "few", 0, 3)], "proxies")
    await records.alerts.settle([], "proxies")
    assert [row.state for row in await alerts.cleared(5)] == ["cleared"]
    clock.advance(CLEARED_KEPT_MS / 1000 + 1)
    await alerts.once()
    assert await alerts.cleared(5) == []
