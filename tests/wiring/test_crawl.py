import asyncio
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from longline.model.metrics.metric import ARCHIVED_PAGES
from longline.model.runs.run import RunRow
from longline.services.crawls.crawls import Crawls
from longline.settings import Settings
from longline.wiring import CrawlRequest, Watcher, WorkerProgress, crawl
from tests.plans import crawl_plan
from tests.web import SiteHandle, running_site


def request(site: SiteHandle, **more: Any) -> CrawlRequest:
    host = site.url.removeprefix("http://").rstrip("/")
    return CrawlRequest(crawl_plan((site.url,), max_depth=10, hosts=(host,), delay_ms=0, concurrency=4), **more)


def ask(settings: Settings, sql: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(settings.data / "longline.db")
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def nothing_left(settings: Settings) -> bool:
    counts = "SELECT (SELECT COUNT(*) FROM workers), (SELECT COUNT(*) FROM line WHERE owner IS NOT NULL)"
    more = (
        ", (SELECT COUNT(*) FROM runs WHERE owner IS NOT NULL), (SELECT COUNT(*) FROM segments WHERE state = 'writing')"
    )
    return ask(settings, counts + more) == [(0, 0, 0, 0)] and not list((settings.data / "alive").iterdir())


class Notes(Watcher):
    """A watcher that keeps the calls; subclasses may react to them."""

    def __init__(self) -> None:
        self.resumed: list[bool] = []
        self.seen: list[int] = []

    def opened(self, run: RunRow, *, resumed: bool) -> None:
        assert run.state == "running"
        self.resumed.append(resumed)

    def moved(self, run: RunRow, progress: WorkerProgress) -> None:
        assert progress.pages <= run.admitted
        self.seen.append(run.admitted - run.open)


async def test_a_crawl_runs_to_its_end_and_reports_its_progress(settings: Settings):
    notes = Notes()
    with running_site(pages=30) as site:
        result = await crawl(settings, request(site), notes)
    assert (result.run.state, result.run.completed, result.resumed, result.untouched) == ("completed", 30, False, False)
    assert {(f.fate, f.reason): f.count for f in result.fates}["completed", "ok"] == 30
    assert ask(settings, f"SELECT count FROM counters WHERE name = '{ARCHIVED_PAGES.key()}'") == [(30,)], "metrics"
    assert notes.resumed == [False]
    assert notes.seen[-1] == result.run.admitted, "the last call has the end"
    assert nothing_left(settings)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_a_crawl_and_the_next_call_continues_it(settings: Settings, number: signal.Signals):
    class Impatient(Notes):
        def moved(self, run: RunRow, progress: WorkerProgress) -> None:
            super().moved(run, progress)
            if run.completed > 5 and len(self.seen) > 2:
                os.kill(os.getpid(), number)

    with running_site(pages=200, delay=0.01) as site:
        stopped = await crawl(settings, request(site), Impatient())
        assert stopped.run.state == "running"
        assert 0 < stopped.run.completed < 200
        assert nothing_left(settings)
        notes = Notes()
        done = await crawl(settings, request(site), notes)
        assert (done.run.completed, done.resumed, notes.resumed) == (200, True, [True])
        visits = site.visits()
        visits.pop("/robots.txt")
        assert set(visits.values()) == {1}


async def test_a_crawl_that_ended_is_left_alone(settings: Settings):
    with running_site(pages=5) as site:
        await crawl(settings, request(site), Watcher())
        before = len(site.requests)
        again = await crawl(settings, request(site), Watcher())
        assert (again.untouched, len(site.requests)) == (True, before)


async def test_the_worker_releases_its_leases_if_a_part_of_the_crawl_fails(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    looks = 0
    get = Crawls.get

    async def failing(self: Crawls, run_id: int) -> RunRow:
        nonlocal looks
        looks += 1
        if looks > 3:
            raise ZeroDivisionError
        return await get(self, run_id)

    monkeypatch.setattr(Crawls, "get", failing)
    before = asyncio.all_tasks()
    with running_site(pages=200, delay=0.02) as site, pytest.raises(ZeroDivisionError):
        await crawl(settings, request(site), Watcher())
    assert nothing_left(settings)
    assert asyncio.all_tasks() == before


async def test_a_run_that_lost_its_lease_is_worked_on_to_its_end(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    asked = 0

    async def no(*_: object) -> bool:
        nonlocal asked
        asked += 1
        return False

    monkeypatch.setattr(Crawls, "renew", no)
    with running_site(pages=60, delay=0.02) as site:
        result = await crawl(settings, request(site), Watcher())
    assert asked
    assert (result.run.state, result.run.completed) == ("completed", 60)


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with running_site(pages=1) as site, pytest.raises(Exception, match="cannot be written"):
        await crawl(Settings(data=tmp_path / "file" / "data"), request(site), Watcher())
