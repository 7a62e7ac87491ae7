"""The place of a platform: its folder and its engines, with checks of its rows and objects."""

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import asyncpg
from warcio.archiveiterator import ArchiveIterator

from longline.drivers.blobs import open_blobs
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls
from longline.settings import Settings
from longline.wiring import Platform, open_platform
from longline.wiring.platform import migrate_tables
from tests.journeys.archive import is_page
from tests.plans import crawl_plan, crawl_stores
from tests.servers.postgres import apart
from tests.web import SiteHandle

Row = tuple[Any, ...]

HELD = {
    "hosts": "SELECT COUNT(*) FROM line WHERE owner IS NOT NULL",
    "offers": "SELECT COUNT(*) FROM offers WHERE owner IS NOT NULL",
    "runs": "SELECT COUNT(*) FROM runs WHERE owner IS NOT NULL OR lease_until IS NOT NULL",
    "workers": "SELECT COUNT(*) FROM workers",
    "half segments": "SELECT COUNT(*) FROM segments WHERE state <> 'stored'",
}
"""Rows that a process must not leave behind when it stops in good order."""


FATES = ("completed", "failed", "cancelled", "skipped")

PATIENCE = 120.0
"""Seconds until a wait fails: far more than a busy machine needs, and no wait lasts longer than it must."""

MAX_PAUSE = 0.15
"""Most seconds between two checks of a condition."""

LOOPBACK = {"LONGLINE_EGRESS_ALLOW": "127.0.0.0/8"}
"""The websites of tests are on loopback: the workers must be allowed to reach it."""


@dataclass(frozen=True)
class Place:
    """The flags of the place, and the same as settings."""

    data: Path
    engines: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return Settings(data=self.data, **self.engines)  # type: ignore[arg-type]  # all of these are texts

    @property
    def flags(self) -> list[str]:
        return ["--data", str(self.data), *(word for name, url in self.engines.items() for word in (f"--{name}", url))]

    def ask(self, sql: str) -> list[Row]:
        """Return rows of the database, read without longline."""
        url = self.settings.database
        if url.startswith("postgresql:"):
            return apart(partial(_fetch, url, sql))
        database = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def value(self, sql: str) -> Any:
        [(value,)] = self.ask(sql)
        return value

    def held(self) -> dict[str, int]:
        """Return the counts of all held or unfinished rows by kind; empty when all is in good order."""
        found = {what: self.value(sql) for what, sql in HELD.items()}
        marks = len(list((self.data / "alive").glob("*")))
        return {what: count for what, count in (found | {"alive": marks}).items() if count}

    def records(self) -> Counter[str]:
        """Return the number of records of each page in the archive, read with a third-party reader."""
        found: Counter[str] = Counter()
        for data in apart(partial(_archive, self.settings.objects)):
            for record in ArchiveIterator(BytesIO(data), check_digests=True):
                record.content_stream().read()
                # The digest of a revisit is that of another record: it cannot be checked here.
                assert record.digest_checker.passed or record.rec_type == "revisit", record.digest_checker.problems
                if not is_page(record):
                    continue
                found[record.rec_headers.get_header("WARC-Target-URI")] += 1
        return found

    def give_work(self, site: SiteHandle, seeds: Sequence[str] = ()) -> None:
        """Order a crawl of the site, from its first page or from these, for the workers at the place."""
        apart(partial(_give_work, self.settings, site.url, seeds))

    def assert_sums_reconcile(self) -> None:
        """Recount every sum of the one run from its rows."""
        [(run_id, admitted, still_open, completed, failed, cancelled, skipped)] = self.ask(
            "SELECT id, admitted, open, completed, failed, cancelled, skipped FROM runs_now"
        )
        rows = self.ask(f"SELECT state, COUNT(*) FROM tasks WHERE run_id = {run_id} GROUP BY state")
        states: dict[str, int] = dict(rows)
        assert admitted == sum(states.values())
        assert (completed, failed, cancelled, skipped) == tuple(states.get(s, 0) for s in FATES)
        assert still_open == admitted - completed - failed - cancelled - skipped
        within = "fate NOT IN ('refused', 'without_item')"
        counted = f"SELECT fate, CAST(SUM(count) AS BIGINT) FROM fates WHERE {within} GROUP BY fate"
        assert dict(self.ask(counted)) == {s: n for s, n in states.items() if s in FATES}

    def assert_whole(self, site: SiteHandle) -> None:
        """Assert that every page of the site is kept once, with its title, and that rows and archive agree."""
        wanted = Counter(site.page_urls)
        kept = self.records()
        assert kept == wanted, f"missing: {wanted - kept}, too much: {kept - wanted}"
        rows = {
            "records": self.value("SELECT SUM(records) FROM segments WHERE state = 'stored'"),
            "titles": {title for (title,) in self.ask("SELECT title FROM pages")},
            "runs": self.ask("SELECT state, open, completed, admitted - skipped FROM runs_now"),
        }
        pages = len(wanted)
        told = {f"Page {number}" for number in range(pages)}
        expected = {"records": pages, "titles": told, "runs": [("completed", 0, pages, pages)]}
        assert rows == expected, f"{rows} is not {expected}"


async def _fetch(url: str, sql: str) -> list[Row]:
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row.values()) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


async def _archive(url: str) -> list[bytes]:
    blobs = open_blobs(url)
    keys = [info.key async for info in blobs.list("warc")]
    return list(await asyncio.gather(*(blobs.get(key) for key in keys)))


async def _give_work(settings: Settings, url: str, seeds: Sequence[str] = ()) -> None:
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        await _ask_for_crawl(platform, url, seeds)


async def _ask_for_crawl(platform: Platform, url: str, seeds: Sequence[str]) -> None:
    crawls = Crawls(platform.lifecycle, crawl_stores(platform.records))
    host = url.removeprefix("http://").rstrip("/")
    plan = crawl_plan(tuple(seeds) or (url,), max_depth=10, hosts=(host,), delay_ms=0, concurrency=8)
    opened = await crawls.open(CrawlRequest(plan), 1_000_000, 60_000)
    await crawls.release(opened)


def wait_until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until the condition holds, at growing intervals, because each check costs a process or a query."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while not condition():
        assert time.monotonic() < deadline, f"not true in time: {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, MAX_PAUSE)
