import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from longline.engine.loop_supervisor import Loop, chore, run_loops
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls, OpenedRun
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.worker import fetch_worker, parse_worker
from tests.drivers.signals.relay import relay_to
from tests.journeys.place import Place
from tests.plans import crawl_plan, crawl_stores
from tests.web import SiteHandle, running_site
from tests.web.login import PASSWORD, USER, Login

PAGES = 40


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(msgspec.structs.replace(settings, user_agent="somebody/1.0", concurrency=4)) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


async def opened(platform: Platform, site: SiteHandle, owner: int) -> OpenedRun:
    host = site.url.removeprefix("http://").rstrip("/")
    plan = crawl_plan((site.url,), max_depth=10, hosts=(host,), delay_ms=0, concurrency=4)
    return await Crawls(platform.lifecycle, crawl_stores(platform.records)).open(CrawlRequest(plan), owner, 30_000)


async def work(platform: Platform, run_id: int, *loops: Loop) -> None:
    """Run loops until the run has ended."""
    stop = asyncio.Event()

    async def look() -> None:
        run = await platform.records.runs.get(run_id)
        if run and run.state == "completed":
            stop.set()

    named = {str(number): loop for number, loop in enumerate([*loops, chore(look, 0.05)])}
    await asyncio.wait_for(run_loops(named, stop), 120)


async def test_a_worker_fetches_as_settings_say(platform: Platform):
    with running_site(pages=PAGES) as site:
        async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
            run = (await opened(platform, site, owner)).run
            await work(platform, run.id, fetch_worker(platform, owner).run)
        assert (await platform.records.tasks.counts())["completed"] == PAGES
        assert {v.headers["user-agent"] for v in site.requests} == {"somebody/1.0"}


async def test_a_worker_of_the_platform_logs_in_for_any_run(settings: Settings, tmp_path: Path):
    code = (
        "from longline.plugins import session\n@session(match='*')\nasync def log_in(site):\n"
        "    form = await site.get('/login')\n"
        f"    await site.submit(form, {{'user': '{USER}', 'password': '{PASSWORD}'}})\n"
    )
    file = tmp_path / "members.py"
    file.write_text(code)
    async with open_platform(msgspec.structs.replace(settings, parsers=(str(file),))) as platform:
        await migrate_tables(platform, may_migrate=True)
        with running_site(pages=0) as site:
            login = Login({"/": b"<a href=/m>m</a>", "/m": b"<p>m"})
            login.add_form(site)
            async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
                run = (await opened(platform, site, owner)).run
                await work(platform, run.id, fetch_worker(platform, owner).run)
        assert (await platform.records.tasks.counts())["completed"] == 2
        assert login.logins == 1
        assert await platform.records.sessions.drop_ended() == 1


async def test_fetching_and_parsing_can_be_two_workers(platform: Platform):
    """The parser reads the archive: it adds no visit to those of the fetcher."""
    with running_site(pages=PAGES) as site:
        async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
            run = (await opened(platform, site, owner)).run
            await work(
                platform, run.id, fetch_worker(platform, owner, parse=False).run, parse_worker(platform, owner).run
            )
        visits = site.visits()
        assert visits.pop("/robots.txt") == 1
        assert (len(visits), set(visits.values())) == (PAGES, {1})
    found = [await platform.records.pages.get(t.id) for t in await platform.records.tasks.find(limit=1000)]
    assert {f.title for f in found if f} == {f"Page {n}" for n in range(PAGES)}


async def test_a_database_that_closes_its_connections_repeatedly_loses_nothing(settings: Settings, postgres_url: str):
    """A report with a lost response may have been written or not: either way every page is kept once."""
    async with relay_to(postgres_url) as relay:
        there = msgspec.structs.replace(settings, database=relay.url(postgres_url), lease=5.0)
        with running_site(pages=300, delay=0.005) as site:
            async with open_platform(there) as platform:
                await migrate_tables(platform, may_migrate=True)
                async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
                    run = (await opened(platform, site, owner)).run

                    async def cut(stop: asyncio.Event) -> None:
                        for seconds in (0.05, 0.11, 0.07, 0.13, 0.03) * 8:
                            await asyncio.sleep(seconds)
                            relay.cut()

                    worker, reaper = fetch_worker(platform, owner).run, chore(platform.reaper.once, 1.0)
                    await work(platform, run.id, worker, reaper, cut)
            place = Place(settings.data, {"database": postgres_url})
            await asyncio.to_thread(place.assert_whole, site)
            assert await asyncio.to_thread(place.held) == {}
