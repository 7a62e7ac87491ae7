"""A web of hand-made responses: every request ends as the test says, without a connection."""

from collections.abc import Mapping

import msgspec

from longline.engine.feeds import sitemap_reader as mapper
from longline.engine.feeds.document_reader import Reader
from longline.engine.feeds.feed_poller import FeedParts
from longline.engine.frontier.seeding import Seeder
from longline.engine.frontier.standing_runs import StandingRules, StandingRuns
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.parse.page_parser import PageParser
from longline.engine.sources.source_lookup import LocalSources
from longline.model.frontier import reasons, retries
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.sources.source import NewSource
from longline.parsers.feeds import feed, sitemap
from longline.plugins import Page
from longline.plugins.registry import Registry
from longline.ports.clock import Clock
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import claim, ended, host_report, report
from tests.plans import crawl_plan


class Said(msgspec.Struct, frozen=True):
    """The end of a request: a page, or a reason other than its status."""

    status: int | None = 200
    body: bytes = b""
    reason: str = ""


MISSING = Said(404)


class HandMadeWeb:
    """Responses by URL; every other URL is missing."""

    def __init__(self, records: Records, clock: Clock | None = None) -> None:
        self.records, self.standing = records, standing(records, clock)
        self.says: dict[str, Said] = {}
        self.asked: list[str] = []
        self._pages: dict[int, Page] = {}
        self.parts = FeedParts(
            feeds=records.feeds,
            pages=records.pages,
            seeder=Seeder(Lifecycle(records), records.runs, records.tasks, self.standing),
            find=self._find,
            read=reader().entries,
            plan=crawl_plan((), delay_ms=0, concurrency=8),
        )

    async def _find(self, task_id: int) -> Page | None:
        return self._pages.get(task_id)

    async def answer(self) -> None:
        """Fetch all waiting tasks."""
        while leases := await claim(self.records):
            reports = []
            for lease in leases.values():
                outcomes = []
                for task in lease.tasks:
                    said = self.says.get(task.url, MISSING)
                    self.asked.append(task.url)
                    self._pages[task.id] = Page(task.url, said.body)
                    reason = said.reason or reasons.for_status(said.status or 0) or "ok"
                    became = retries.state_after(
                        reason, task.attempt, (await self._plan(task.run_id)).retries.max_attempts
                    )
                    outcomes.append(ended(task, became, reason, status=said.status, error=f"it said {said.status}"))
                reports.append(host_report(lease, outcomes))
            assert not (await report(self.records, *reports)).refused

    async def _plan(self, run_id: int) -> CrawlPlan:
        run = await self.records.runs.get(run_id)
        assert run is not None
        return CrawlPlan.read(run.plan)

    async def source(self, name: str, feed_url: str | None = None) -> int:
        """Add a source on a host of its own."""
        return (await self.records.sources.add(NewSource(name, f"https://{name}.example/", feed_url=feed_url))).id

    async def urls(self, kind: str) -> Mapping[str, int]:
        """Return the URLs of all runs of one kind, each with its priority."""
        kinds = {run.id: run.kind for run in await self.records.runs.find(limit=1000)}
        found = await self.records.tasks.find(limit=10_000)
        return {task.url: task.priority for task in found if kinds[task.run_id] == kind}


def reader() -> Reader:
    """Return a reader that parses in this process."""
    return Reader(PageParser(Registry(feed, sitemap)))


def standing(records: Records, clock: Clock | None = None) -> StandingRuns:
    """Return standing runs without a delay."""
    return StandingRuns(
        records.runs, LocalSources(records.sources), StandingRules(delay_ms=0), clock or FakeClock(), Registry()
    )


def mapped(web: HandMadeWeb, clock: Clock) -> mapper.SitemapParts:
    """Return the parts of a sitemap reader in such a web."""
    return mapper.SitemapParts(
        sitemaps=web.records.sitemaps,
        sources=web.records.sources,
        seeder=web.parts.seeder,
        find=web.parts.find,
        read=reader().sitemap,
        plan=web.parts.plan,
        clock=clock,
    )


def rss(*links: str) -> Said:
    """Return a feed with an entry for each link."""
    items = "".join(f"<item><title>{link}</title><link>{link}</link></item>" for link in links)
    return Said(body=f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode())
