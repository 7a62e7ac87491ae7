import asyncio
import logging

import pytest

from longline.model.errors import CorruptDatabase, DiskFull, SinkFailing, Unavailable
from longline.services.health import Check, Health, Report
from tests.services.clock import HandClock


async def fine() -> str:
    return "Engine 1.0"


async def down() -> str:
    raise Unavailable("cannot reach db.internal:5432 as me")


async def silent() -> str:
    await asyncio.Event().wait()
    return "never"


async def reported(*checks: Check) -> Report:
    """Return the report of these checks; a check without a deadline fails the test by a timeout."""
    async with asyncio.timeout(60):
        return await Health(checks, HandClock(), patience=0.05).report()


@pytest.mark.parametrize(
    ("database", "redis", "status"),
    [
        (fine, fine, "healthy"),
        (fine, down, "degraded"),
        (down, fine, "unhealthy"),
        (down, down, "unhealthy"),
        (silent, fine, "unhealthy"),
        (fine, silent, "degraded"),
    ],
)
async def test_the_status_of_the_whole_follows_from_its_parts(database, redis, status: str):
    report = await reported(Check("database", database, critical=True), Check("redis", redis))
    assert report.status == status
    assert list(report.checks) == ["database", "redis"]


async def test_a_check_has_its_detail():
    report = await reported(Check("database", fine, critical=True))
    assert report.checks["database"].status == "healthy"
    assert report.checks["database"].detail == "Engine 1.0"
    assert report.checks["database"].error is None


async def full() -> str:
    raise DiskFull("the disk of db.internal is full")


async def corrupt() -> str:
    raise CorruptDatabase("db.internal is damaged")


async def test_a_full_disk_is_named_and_makes_the_whole_unhealthy():
    report = await reported(Check("database", fine, critical=True), Check("objects", full))
    assert (report.status, report.checks["objects"].error) == ("unhealthy", "disk full")


async def test_a_damaged_database_is_named():
    report = await reported(Check("database", corrupt, critical=True))
    assert (report.status, report.checks["database"].error) == ("unhealthy", "database corrupt")


@pytest.mark.parametrize(("probe", "kind"), [(down, "unavailable"), (silent, "timeout")])
async def test_a_failure_is_reported_by_its_kind_and_logged_in_full(probe, kind: str, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING):
        report = await reported(Check("database", probe))
    assert report.checks["database"].error == kind
    assert "db.internal" not in repr(report)
    assert vars(caplog.records[0])["check"] == "database"
    assert vars(caplog.records[0])["reason"] in ("cannot reach db.internal:5432 as me", "no answer in time")


async def test_checks_run_side_by_side():
    meeting = asyncio.Barrier(3)

    async def meet() -> str:
        await meeting.wait()  # passes only if all three are under way at once
        return "met"

    report = await reported(*(Check(name, meet) for name in "abc"))
    assert report.status == "healthy"


async def test_a_report_without_checks_is_healthy():
    assert (await reported()).status == "healthy"


async def test_uptime_counts_from_the_start():
    clock = HandClock()
    watched = Health((), clock)
    await clock.sleep(3723)
    assert (await watched.report()).uptime == pytest.approx(3723)


async def test_a_probe_that_is_cancelled_is_not_a_failed_check():
    task = asyncio.create_task(Health([Check("database", silent)], HandClock(), patience=60).report())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_failing_sink_is_named_and_only_degrades():
    async def failing() -> str:
        raise SinkFailing("failing sinks: books, 2")

    found = await reported(Check("database", fine, critical=True), Check("sinks", failing))
    assert (found.status, found.checks["sinks"].error) == ("degraded", "failing sinks: books, 2")
