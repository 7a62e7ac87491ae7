"""Discovery: external links become tasks of sources that we have, or candidates for new sources."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from longline.engine.discovery.outlinks import leading_away
from longline.engine.frontier.seeding import Seeder
from longline.engine.parse.report_additions import ReportAdditions, ReportedPage
from longline.model.bounded_dict import BoundedDict
from longline.model.discovery.candidate import Decision, DiscoveryRules, LinkSighting, home_of, identity_of
from longline.model.errors import Unavailable
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.runs.run import RunKind
from longline.model.sources.source import SourceQuery
from longline.model.urls.url import BadUrl, Url, parse
from longline.ports.clock import Clock
from longline.ports.records.sources import SourceStore

log = logging.getLogger(__name__)

MAX_CACHED = 10_000
CACHE_SECONDS = 600.0
"""Seconds for which the source of a place, and a decision on a place in a run, are cached."""

MAX_SIMILAR_SOURCES = 500
BATCH_SIZE = 200
"""Largest number of links examined before other tasks get the event loop."""


@dataclass(frozen=True, slots=True)
class DiscoveryParts:
    """The parts of discovery."""

    sources: SourceStore
    seeder: Seeder
    clock: Clock


class Discovery:
    """A contributor to reports that follows external links of pages, where the plan allows it.

    It never fails a page.
    """

    def __init__(self, parts: DiscoveryParts, rules: DiscoveryRules) -> None:
        self._parts, self._rules = parts, rules
        self._sources: BoundedDict[str, tuple[float, int | None]] = BoundedDict(MAX_CACHED)
        self._said: BoundedDict[tuple[int, str, str], float] = BoundedDict(MAX_CACHED)

    async def contribute(self, pages: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        """Add the places that the external links of pages lead to."""
        additions.rules = self._rules
        try:
            for page in pages:
                if page.plan.bounds.discover:
                    await self._follow_up(page, additions)
        except Unavailable as error:
            log.warning("external links not checked for candidates", extra={"error": str(error)})

    async def _follow_up(self, page: ReportedPage, additions: ReportAdditions) -> None:
        known: list[tuple[int, str]] = []
        news = _News(page.task.run_id, self._said, self._parts.clock.monotonic())
        for number, link in enumerate(await asyncio.to_thread(leading_away, page)):
            if number % BATCH_SIZE == 0:
                await asyncio.sleep(0)  # cached places cost no wait, and other tasks need the event loop
            url = parse(link.url)
            identity = identity_of(url)
            reason = self._rules.refusal(url.href)
            source_id = await self._source_of(identity, url) if reason is None else None
            if source_id is not None:
                known.append((source_id, url.href))
                reason = f"source {source_id} has it"
            if reason is not None and news.is_new(identity, reason):
                additions.decisions.append(Decision(identity, url.href, "find", reason, page.task.run_id))
            elif reason is None and news.is_new(identity, "seen"):
                additions.sightings.append(_sighting(identity, url, page))
        await self._feed(known, additions)
        additions.after.append(news.remember)

    async def _feed(self, known: list[tuple[int, str]], additions: ReportAdditions) -> None:
        """Add the links that lead to sources that we have, as tasks of their standing runs."""
        for source_id, urls in groupby(sorted(known), key=lambda one: one[0]):
            tasks, hosts = await self._parts.seeder.standing_tasks(
                RunKind.STANDING_DISCOVERED, source_id, [url for _, url in urls], DEFAULT_PRIORITY
            )
            additions.tasks += tasks
            additions.hosts += hosts

    async def _source_of(self, identity: str, url: Url) -> int | None:
        """Return the source that a place belongs to, cached for REMEMBERED_SECONDS."""
        now = self._parts.clock.monotonic()
        at, source_id = self._sources.get(identity, (float("-inf"), None))
        if now >= at + CACHE_SECONDS:
            source_id = await self._look_up(identity, url)
            self._sources[identity] = (now, source_id)
        return source_id

    async def _look_up(self, identity: str, url: Url) -> int | None:
        sources = self._parts.sources
        if named := await sources.get_by_identity(identity):
            return named.id
        alike = await sources.find(SourceQuery(search=url.hostname.removeprefix("www.")), limit=MAX_SIMILAR_SOURCES)
        return next((row.id for row in alike if _is_at(row.base_url, identity)), None)


class _News:
    """The facts that a run has not noted lately: pages of a site share most of their links."""

    def __init__(self, run_id: int, said: BoundedDict[tuple[int, str, str], float], now: float) -> None:
        self._run_id, self._said, self._now = run_id, said, now
        self._new: set[tuple[int, str, str]] = set()

    def is_new(self, identity: str, said: str) -> bool:
        """Return whether a fact of a place is to be noted."""
        key = (self._run_id, identity, said)
        before = self._said.get(key)
        if key in self._new or (before is not None and self._now < before + CACHE_SECONDS):
            return False
        self._new.add(key)
        return True

    def remember(self) -> None:
        """Remember the new facts, which were written."""
        self._said.update(dict.fromkeys(self._new, self._now))


def _is_at(base_url: str, identity: str) -> bool:
    try:
        return identity_of(parse(base_url, credentials=True)) == identity
    except BadUrl:
        return False


def _sighting(identity: str, url: Url, page: ReportedPage) -> LinkSighting:
    source = "" if page.plan.source_id is None else str(page.plan.source_id)
    return LinkSighting(identity, home_of(url), url.href, page.task.url, page.task.run_id, source)
