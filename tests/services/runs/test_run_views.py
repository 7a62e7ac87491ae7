"""One run as its page shows it: its requests, and its pace, from its tasks."""

import msgspec
import pytest

from longline.model.frontier.task import RequestMade
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.runs.run_views import RunPages
from longline.testing.clock import FakeClock
from tests.console.scene import add_urls, start_run
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import claim, ended, host_report, report

ENDS = (
    (3_000, TaskState.COMPLETED),
    (3_100, TaskState.COMPLETED),
    (3_200, TaskState.FAILED),
    (63_000, TaskState.COMPLETED),
    (65_000, TaskState.SKIPPED),
    (65_000, TaskState.FAILED),
)


async def test_the_pace_of_a_run_is_counted_from_its_tasks(records: Records, clock: FakeClock):
    run = await start_run(records, "https://paced.example/")
    begun = (await RunPages(records.run_views, records.runs, clock).get(run.id)).started_at or 0
    await add_urls(records, run, "paced.example", 7)
    [lease] = (await claim(records, tasks=6)).values()
    outcomes = [
        msgspec.structs.replace(ended(task, state), at=begun + at)
        for task, (at, state) in zip(lease.tasks, ENDS, strict=True)
    ]
    await report(records, host_report(lease, outcomes))
    clock.advance((begun + 100_000 - clock.now()) / 1000)
    pace = (await RunPages(records.run_views, records.runs, clock).detail(run.id)).pace
    assert pace is not None
    assert [point.at - begun for point in pace] == list(range(0, 100_000, 2_000))
    assert {point.at - begun: (point.pages, point.failures) for point in pace if point.pages or point.failures} == {
        2_000: (60, 30),
        62_000: (30, 0),
        64_000: (0, 30),
    }


async def test_a_lost_worker_is_no_request_of_a_run(records: Records, clock: FakeClock):
    run = await start_run(records, "https://counted.example/")
    await add_urls(records, run, "counted.example", 3)
    [lease] = (await claim(records, tasks=3)).values()
    asked = (RequestMade(reason="worker_lost", error="lost"), RequestMade(reason="dns"), RequestMade(200, 30, 90))
    outcomes = [
        msgspec.structs.replace(ended(task, TaskState.FAILED), asked=(one,))
        for task, one in zip(lease.tasks, asked, strict=True)
    ]
    await report(records, host_report(lease, outcomes))
    requests = (await RunPages(records.run_views, records.runs, clock).detail(run.id)).requests
    assert sorted((one.reason, one.count) for one in requests) == [("dns", 1), ("ok", 1)]


async def test_a_run_that_has_just_begun_has_no_pace(records: Records, clock: FakeClock):
    run = await start_run(records, "https://young.example/")
    pages = RunPages(records.run_views, records.runs, clock)
    assert (await pages.detail(run.id)).pace is None
    clock.advance(5)
    found = (await pages.detail(run.id)).pace
    assert found is not None
    assert [point.pages for point in found] == [0] * 5


async def test_a_run_with_more_tasks_than_are_counted_has_no_pace(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    run = await start_run(records, "https://large.example/")
    await add_urls(records, run, "large.example", 3)
    clock.advance(60)
    pages = RunPages(records.run_views, records.runs, clock)
    monkeypatch.setattr("longline.services.runs.run_views.MAX_COUNTED_TASKS", 3)
    assert (await pages.detail(run.id)).pace is not None
    monkeypatch.setattr("longline.services.runs.run_views.MAX_COUNTED_TASKS", 2)
    assert (await pages.detail(run.id)).pace is None
