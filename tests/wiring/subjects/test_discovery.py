"""A crawl with discovery on: links are saved, a link becomes a candidate, and a polite run probes the candidate."""

import asyncio

import msgspec
import pytest

from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.loop_supervisor import chore, run_loops
from longline.engine.worker.reporter import ReportParts
from longline.model.discovery.link import LinkQuery
from longline.model.urls.url import parse
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.subjects.discovery import candidate_probe, candidates
from longline.wiring.subjects.logs import writing_run_logs
from longline.wiring.worker import fetch_worker, link_contributors, report_observers
from tests.plans import crawl_plan, crawl_stores
from tests.web import running_site
from tests.web.wire import Answer


async def crawled(platform: Platform, owner: int, url: str, *, discovering: bool, journal: RunLogWriter | None) -> None:
    """Crawl one page, until its links and, with `discovering`, a candidate are stored."""
    plan = crawl_plan((url,), hosts=(parse(url).host,), delay_ms=0, discover=True)
    await Crawls(platform.lifecycle, crawl_stores(platform.records)).open(CrawlRequest(plan), owner, 30_000)
    stop = asyncio.Event()

    async def look() -> None:
        links, _ = await platform.records.links.find(LinkQuery())
        if links and (not discovering or await candidates(platform).find("pending", 10)):
            stop.set()

    report = ReportParts(report_observers(platform, journal), link_contributors(platform))
    worker = fetch_worker(platform, owner, report=report)
    loops = {"fetch": worker.run, "look": chore(look, 0.05)}
    if discovering:
        loops["candidate probes"] = chore(candidate_probe(platform).once, 0.05)
    await asyncio.wait_for(run_loops(loops, stop), 60)


@pytest.mark.parametrize(("on", "logs"), [(True, True), (False, True), (True, False)])
async def test_a_place_that_pages_link_to_waits_for_a_decision(settings: Settings, on: bool, logs: bool):
    there = msgspec.structs.replace(settings, discovery=on, save_links=True, delay=0.0, run_logs=logs)
    with running_site(pages=1) as site, running_site(pages=1) as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        site.site.extra["/"] = Answer(body=f'<a href="{elsewhere}">there</a>'.encode())
        async with open_platform(there, frozenset({"localhost"})) as platform:
            await migrate_tables(platform, may_migrate=True)
            async with (
                registered_worker(platform, frozenset({"fetch"})) as owner,
                writing_run_logs(platform) as journal,
            ):
                await crawled(platform, owner, site.url, discovering=on, journal=journal)
            found = await candidates(platform).find(None, 10)
            [link], _ = await platform.records.links.find(LinkQuery())
        assert [row.identity for row in found] == (["localhost"] if on else [])
        assert link.url == elsewhere
        # The details of a link's page are stored with the link, for each caller that submitted the page.
        assert (link.status, link.content_type) == ((200, "text/html; charset=utf-8") if on else (None, None))
        assert other.visits() == ({"/robots.txt": 1, "/": 1} if on else {})
