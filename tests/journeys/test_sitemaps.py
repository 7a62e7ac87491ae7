"""A crawl with sitemaps finds pages without a link to them."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.engine.loop_supervisor import chore, run_loops
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls
from longline.settings import Settings
from longline.wiring import Platform, open_platform
from longline.wiring.platform import migrate_tables, registered_worker
from longline.wiring.worker import fetch_worker
from tests.journeys.place import PATIENCE
from tests.plans import crawl_plan, crawl_stores
from tests.web import running_site
from tests.web.wire import Answer


@pytest.fixture
async def platform(tmp_path: Path, migrated_url: str) -> AsyncIterator[Platform]:
    settings = Settings(data=tmp_path / "data", database=migrated_url, egress_allow=("127.0.0.0/8",))
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


def listing(tag: str, item: str, *paths: str) -> bytes:
    return f"<{tag}>{''.join(f'<{item}><loc>{path}</loc></{item}>' for path in paths)}</{tag}>".encode()


async def test_pages_that_only_a_sitemap_names_are_fetched(platform: Platform) -> None:
    robots = "User-agent: *\nDisallow: /private/\nSitemap: /index.xml\n"
    with running_site(pages=1, robots=robots) as site:
        packed = gzip.compress(listing("urlset", "url", "/alone", "/private/1", "http://elsewhere.example/"))
        site.site.extra |= {
            "/": b"<title>Home</title>",
            "/index.xml": listing("sitemapindex", "sitemap", "/pages.xml.gz", "/gone.xml"),
            "/pages.xml.gz": Answer(body=packed, content_type="application/gzip"),
            "/alone": b"<title>Alone</title><a href=/further>further</a>",
            "/further": b"<title>Further</title>",
        }
        host = site.url.removeprefix("http://").rstrip("/")
        plan = crawl_plan((site.url,), max_depth=1, hosts=(host,), delay_ms=0, concurrency=4, sitemaps=True)
        async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
            crawls = Crawls(platform.lifecycle, crawl_stores(platform.records))
            run = (await crawls.open(CrawlRequest(plan), owner, 60_000)).run
            stop = asyncio.Event()

            async def look() -> None:
                if (await crawls.get(run.id)).state == "completed":
                    stop.set()

            loops = {"worker": fetch_worker(platform, owner).run, "look": chore(look, 0.05)}
            await asyncio.wait_for(run_loops(loops, stop), PATIENCE)

    found = {task.url.removeprefix(site.url): (task.state, task.depth) for task in await platform.records.tasks.find()}
    assert found == {
        "": ("completed", 0),
        "index.xml": ("completed", 0),
        "pages.xml.gz": ("completed", 1),
        "gone.xml": ("failed", 1),
        "alone": ("completed", 1),
        "private/1": ("skipped", 1),
    }
    refused = {fate.reason: fate.count for fate in await crawls.fates(run.id) if fate.fate == "refused"}
    assert refused == {"offsite": 1, "depth": 1}
