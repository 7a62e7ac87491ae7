"""The runs of recrawls: one for each source, never started, and so never ended; its plan follows the source."""

import msgspec

from longline.engine.frontier.standing_runs import CACHE_SECONDS, MAX_CACHED_SOURCES, StandingRun
from longline.engine.lifecycle.creation import ensure_run
from longline.engine.sources.crawl_plan import as_crawled, parse_options, pause_ms
from longline.model.bounded_dict import BoundedDict
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.recrawls.recrawl import (
    DEFAULT_ATTEMPTS,
    DEFAULT_CONCURRENCY,
    DEFAULT_DELAY_MS,
    MAX_RETRY_DELAY_SECONDS,
    RETRY_DELAY_SECONDS,
)
from longline.model.runs.crawl_bounds import CrawlBounds
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Proxying, Retries
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import SourceRow
from longline.plugins.registry import Registry
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.sources import SourceStore

MAX_IMAGE_BYTES = 20 * 1024**2
IMAGE_SECONDS = 120.0


class RecrawlPlans:
    """A cache of the runs of recrawls and their plans, by source, until their sources change."""

    def __init__(self) -> None:
        self._known: BoundedDict[int, tuple[StandingRun, float]] = BoundedDict(MAX_CACHED_SOURCES)
        self.changes = 0

    def get(self, source_id: int, now: float) -> StandingRun | None:
        """Return the run of a source; None if it is not cached, or the entry expired."""
        run, until = self._known.get(source_id, (None, now))
        return run if now < until else None

    def put(self, source_id: int, run: StandingRun, now: float, changes: int) -> None:
        """Cache a run that was read after so many changes, unless there was another change meanwhile."""
        if changes == self.changes:
            self._known[source_id] = run, now + CACHE_SECONDS

    def forget(self, source_id: int) -> None:
        """Drop the run of a source: its settings have changed."""
        self.changes += 1
        self._known.pop(source_id, None)


class RecrawlRuns:
    """The runs of recrawls by source, made where missing; each follows the settings of its source."""

    def __init__(
        self,
        runs: RunStore,
        sources: SourceStore,
        clock: Clock,
        parsers: Registry,
        *,
        robots: bool = True,
        known: RecrawlPlans | None = None,
    ) -> None:
        self._runs, self._sources, self._clock, self._parsers, self._robots = runs, sources, clock, parsers, robots
        self._known = RecrawlPlans() if known is None else known

    async def of(self, source_id: int) -> StandingRun:
        """Return the run of a source and its plan, which is cached; raise `NotFound` for an unknown source."""
        run, changes = self._known.get(source_id, self._clock.monotonic()), self._known.changes
        if run is None:
            run = await self._look_up(source_id)
            self._known.put(source_id, run, self._clock.monotonic(), changes)
        return run

    async def of_images(self, run_id: int, source_id: int) -> StandingRun:
        """Return the run of the images of a source, whose plan follows the source as well."""
        return StandingRun(run_id, image_plan((await self.of(source_id)).plan))

    async def held_with(self, source_id: int) -> list[int]:
        """Return the runs that a hold of a source concerns: of its pages, and of its images if there is one."""
        images = await self._runs.first(RunKind.IMAGES, str(source_id))
        return [(await self.of(source_id)).id, *([images.id] if images else [])]

    def forget(self, source_id: int) -> None:
        """Read a source again when its run is next needed: its settings have changed."""
        self._known.forget(source_id)

    async def _look_up(self, source_id: int) -> StandingRun:
        source = await self._sources.get(source_id)
        if source is None:
            raise NotFound("source", source_id)
        plan = recrawl_plan(source, self._parsers, robots=self._robots)
        seed = str(source_id)
        row = await self._runs.first(RunKind.PRODUCTS, seed)
        if row is None:
            made = NewRun(new_id(), RunKind.PRODUCTS, plan.text(), seed, source_id=source_id)
            row = await ensure_run(self._runs, made, "scheduler")
        if row.plan != plan.text():
            await self._runs.replan(row.id, plan.text(), source_id)
        return StandingRun(row.id, plan)


def recrawl_plan(source: SourceRow, parsers: Registry, *, robots: bool = True) -> CrawlPlan:
    """Return the plan for recrawls of a source: each URL stays one task, and nearly every failure is retried."""
    crawled, settings = as_crawled(source), recrawl_settings(source.recrawl)
    pause = pause_ms(crawled)
    return CrawlPlan(
        (),
        bounds=CrawlBounds(max_depth=0),
        politeness=Politeness(
            robots=robots,
            delay_ms=DEFAULT_DELAY_MS if pause is None else pause,
            concurrency=source.concurrency or DEFAULT_CONCURRENCY,
        ),
        retries=Retries(
            max_attempts=DEFAULT_ATTEMPTS,
            delay_seconds=RETRY_DELAY_SECONDS,
            max_delay_seconds=MAX_RETRY_DELAY_SECONDS,
            insistent=True,
            parser=settings.parser_retry,
        ),
        fetch=FetchOptions(
            content_types=parsers.content_types(crawled.parser),
            user_agents=(source.user_agent,) if source.user_agent else (),
            render=crawled.dynamic,
            proxying=Proxying(
                country=settings.country, strategy=settings.strategy, direct=settings.direct, shared=True
            ),
        ),
        parse=msgspec.structs.replace(
            parse_options(crawled, readability=False, by_name=True), stores_images=settings.images
        ),
        single=True,
        source_id=source.id,
        source_name=source.name,
    )


def image_plan(plan: CrawlPlan) -> CrawlPlan:
    """Return the plan of the images of a source: politeness, proxies and retries are those of its pages."""
    options = FetchOptions(user_agents=plan.fetch.user_agents, proxying=plan.fetch.proxying)
    rules = DownloadPlan(max_bytes=MAX_IMAGE_BYTES, total_seconds=IMAGE_SECONDS, measures_images=True)
    return CrawlPlan(
        (),
        politeness=plan.politeness,
        retries=plan.retries,
        fetch=options,
        downloads=rules,
        source_id=plan.source_id,
        source_name=plan.source_name,
    )
