"""Runs that wait for their due time."""

import pytest

from longline.model.errors import BadInput
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.ports.records import Records
from longline.services.runs.queued_runs import QueuedRuns, RunToQueue
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names

PLAN = CrawlPlan(("https://a.example/",))


@pytest.mark.parametrize(("wanted_ms", "due_ms"), [(None, 0), (-5_000, 0), (5_000, 5_000)])
async def test_the_due_time_of_a_queued_run_is_not_in_the_past(
    records: Records, clock: FakeClock, wanted_ms: int | None, due_ms: int
):
    queue = QueuedRuns(records.runs, records.due_runs, clock)
    due = None if wanted_ms is None else clock.now() + wanted_ms
    run = await queue.add(RunToQueue(RunKind.CRAWL, PLAN, due=due))
    assert (run.state, run.due, run.seed) == ("queued", clock.now() + due_ms, PLAN.seeds[0])
    assert len(await records.due_runs.find(10)) == (due_ms == 0)


async def test_a_kind_of_runs_is_paused_and_resumed(records: Records, clock: FakeClock):
    queue = QueuedRuns(records.runs, records.due_runs, clock)
    assert (await queue.pause(RunKind.CRAWL), await queue.paused()) == (True, [RunKind.CRAWL])
    assert (await queue.resume(RunKind.CRAWL), await queue.paused()) == (True, [])


async def test_a_run_without_a_url_is_refused(records: Records, clock: FakeClock):
    with pytest.raises(BadInput, match="needs a URL to start from"):
        await QueuedRuns(records.runs, records.due_runs, clock).add(RunToQueue(RunKind.CRAWL, CrawlPlan(())))
    assert await records.runs.find() == []
