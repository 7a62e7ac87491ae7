"""Runs that begin together with their seeds, on both engines."""

import pytest

from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.lifecycle.runs import RunLifecycle
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import get_run

PLAN = CrawlPlan(("https://a.example/", "https://b.example/"))


def new_run() -> NewRun:
    return NewRun(new_id(), RunKind.FEED_POLL, PLAN.text(), PLAN.seeds[0])


async def test_a_run_begins_with_its_seeds_and_workers_are_called(records: Records):
    calls = []

    async def call() -> None:
        calls.append(len(await records.runs.find()))

    runs = RunLifecycle(records, PolitenessKey(), call)
    run_id = await runs.begin(new_run(), [seed(url, 0, PLAN) for url in PLAN.seeds], "due")
    run = await get_run(records, run_id)
    assert (run.state, run.open, run.admitted, run.owner, calls) == ("running", 2, 2, None, [1])
    created, event = await records.events.find()
    assert (created.move, created.was, created.became, created.actor) == ("create", None, "queued", "scheduler")
    assert (event.move, event.was, event.became, event.actor, event.reason) == (
        "start",
        "queued",
        "running",
        "scheduler",
        "due",
    )


async def test_a_run_is_not_made_if_its_seeds_cannot_be_admitted(records: Records, monkeypatch: pytest.MonkeyPatch):
    async def forget(_: object) -> None:
        """Add no hosts: the admission of their URLs fails."""

    monkeypatch.setattr(records.frontier, "ensure_hosts", forget)
    with pytest.raises(NotFound):
        await RunLifecycle(records, PolitenessKey()).begin(new_run(), [seed(PLAN.seeds[0], 0, PLAN)], "due")
    assert (await records.runs.find(), await records.events.find()) == ([], [])
