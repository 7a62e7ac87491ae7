"""The runs of the standing frontier: one for each origin and source, never started, and so never ended."""

import logging
from typing import NamedTuple

import msgspec

from longline.engine.lifecycle.creation import ensure_run
from longline.engine.sources.crawl_plan import parse_options, pause_ms
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import Unavailable
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.model.ids import new_id
from longline.model.runs.crawl_bounds import DOWNLOADS, FILES, CrawlBounds
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Proxying, Retries
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.sources.source import CrawlSource
from longline.plugins.parser import HTML
from longline.plugins.registry import Registry
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import RunStore
from longline.ports.sources import SourceLookup

log = logging.getLogger(__name__)

MAX_CACHED_SOURCES = 10_000
CACHE_SECONDS = 60.0
"""Seconds for which the plan and the ref of a source are cached."""

RETRY_DELAY_SECONDS = 60.0


class StandingRules(msgspec.Struct, frozen=True):
    """The politeness, attempts and parsing of the standing frontier; `awake` is whether it fetches at all."""

    delay_ms: int = 1000
    robots: bool = True
    attempts: int = 3
    max_redirects: int = 5
    readability: bool = False
    awake: bool = True


class StandingRun(NamedTuple):
    """A run and its plan."""

    id: int
    plan: CrawlPlan


class StandingRuns:
    """The standing runs by origin and source, made where missing; each follows the settings of its source."""

    def __init__(
        self, runs: RunStore, directory: SourceLookup, rules: StandingRules, clock: Clock, parsers: Registry
    ) -> None:
        self._runs, self._directory, self._rules, self._clock, self._parsers = runs, directory, rules, clock, parsers
        self._known: BoundedDict[tuple[RunKind, str], tuple[StandingRun, float]] = BoundedDict(MAX_CACHED_SOURCES)
        self._called: BoundedDict[int, tuple[str, float]] = BoundedDict(MAX_CACHED_SOURCES)

    @property
    def due(self) -> int:
        """Return when new URLs are due: at once, or ASLEEP until the waker wakes them."""
        return 0 if self._rules.awake else NEVER_DUE_MS

    async def of(self, kind: RunKind, source_id: int) -> StandingRun:
        """Return the run of a kind and the source of an id."""
        now = self._clock.monotonic()
        source, until = self._called.get(source_id, ("", now))
        if now >= until:
            source = await self._directory.ref_of(source_id)
            self._called[source_id] = source, now + CACHE_SECONDS
        return await self.get(kind, source)

    async def get(self, kind: RunKind, source: str) -> StandingRun:
        """Return the run of a kind and a source."""
        now = self._clock.monotonic()
        run, until = self._known.get((kind, source), (None, now))
        if run is None or now >= until:
            if run is not None:
                self._remember(kind, source, run)  # callers meanwhile get the old plan
            run = await self._look_up(kind, source)
            self._remember(kind, source, run)
        return run

    def _remember(self, kind: RunKind, source: str, run: StandingRun) -> None:
        self._known[kind, source] = run, self._clock.monotonic() + CACHE_SECONDS

    async def _look_up(self, kind: RunKind, source: str) -> StandingRun:
        row = await self._runs.first(kind, source)
        try:
            plan = standing_plan(await self._directory.get(source), self._rules, self._parsers)
        except Unavailable as error:
            if row is None:
                raise
            log.warning("source lookup failed, using the stored plan", extra={"source": source, "error": str(error)})
            return StandingRun(row.id, CrawlPlan.read(row.plan))
        if row is None:
            made = NewRun(new_id(), kind, plan.text(), source, source_id=plan.source_id)
            row = await ensure_run(self._runs, made, "scheduler")
        if _differs(row, plan):
            await self._runs.replan(row.id, plan.text(), plan.source_id)
        return StandingRun(row.id, plan)


def _differs(row: RunRow, plan: CrawlPlan) -> bool:
    return row.source_id != plan.source_id or CrawlPlan.read(row.plan) != plan


def standing_plan(source: CrawlSource | None, rules: StandingRules, parsers: Registry) -> CrawlPlan:
    """Return the plan for single URLs of a source, which may be unknown; only a parser of files gets files."""
    pause = pause_ms(source)
    types = parsers.content_types(source.parser if source else "")
    return CrawlPlan(
        (),
        bounds=CrawlBounds(max_depth=0, never=(FILES, DOWNLOADS) if set(types) == set(HTML) else ()),
        politeness=Politeness(
            robots=rules.robots, lenient_robots=True, delay_ms=rules.delay_ms if pause is None else pause
        ),
        retries=Retries(max_attempts=rules.attempts, delay_seconds=RETRY_DELAY_SECONDS, insistent=True),
        fetch=FetchOptions(
            max_redirects=rules.max_redirects,
            content_types=types,
            render=source.dynamic if source else False,
            user_agents=(source.user_agent,) if source and source.user_agent else (),
            proxying=Proxying.by_pools(source.proxy_pools if source else ()),
        ),
        parse=parse_options(source, readability=rules.readability, by_name=True),
        source_id=source.id if source else None,
        source_name=source.name if source else "",
    )
