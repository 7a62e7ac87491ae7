"""`longline mcp`: the server for language models, over the archive of a data folder."""

import asyncio

from longline.engine.worker.worker import Progress as WorkerProgress
from longline.model.frontier.fate import UrlFilters
from longline.model.runs.crawl_bounds import UNBOUNDED_DEPTH, CrawlBounds
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Retries
from longline.model.runs.run import RunRow
from longline.model.search.item import RunItem
from longline.model.urls.url import parse
from longline.services.archive.pages import ArchivedPage
from longline.services.crawls.crawl_loop import CrawlResult, Watcher
from longline.services.crawls.crawl_options import ALL_OPTIONS, CrawlRequest, site_hosts
from longline.services.frontier.url_fates import UrlFates, UrlOut
from longline.services.runs.last_run import find_run
from longline.services.search.item_search import SearchPage, SearchRequest
from longline.settings import Settings
from longline.surfaces.mcp.server import PROGRESS_INTERVAL_SECONDS, CrawlOrder, McpServices, Progress, build_server
from longline.wiring.crawl import crawl_until
from longline.wiring.read_commands import read_page, search
from longline.wiring.read_only_archive import open_archive


async def serve_mcp(settings: Settings, *, allow_crawl: bool) -> None:
    """Answer a client on standard input and output until it goes away."""
    await build_server(mcp_services(settings, allow_crawl=allow_crawl)).run_stdio_async()


def mcp_services(settings: Settings, *, allow_crawl: bool) -> McpServices:
    """Return the services of the tools; every call opens the archive, so that results of other processes are seen."""

    async def find(asked: SearchRequest) -> SearchPage:
        return await search(settings, asked)

    async def page(url: str) -> ArchivedPage:
        return await read_page(settings, parse(url).href)

    async def urls(run_id: int | None, filters: UrlFilters, limit: int) -> tuple[int, list[UrlOut]]:
        async with open_archive(settings) as archive:
            run = await find_run(archive.records.runs, run_id)
            found: list[UrlOut] = []
            async for rows in UrlFates(archive.records.tasks).batches(run.id, filters):
                found += rows
                if len(found) >= limit:
                    break
            return run.id, found[:limit]

    async def items(run_id: int | None, after: int, limit: int) -> tuple[int, list[RunItem]]:
        async with open_archive(settings) as archive:
            run = await find_run(archive.records.runs, run_id)
            return run.id, await archive.records.items.of_run(run.id, after=after, limit=limit)

    async def begin(order: CrawlOrder, progress: Progress) -> CrawlResult:
        # Bounds, headers and cookies of the operator's crawl from the same URL are not the model's.
        request = CrawlRequest(crawl_plan(settings, order), order.pages, again=True, given=ALL_OPTIONS)
        # The URL comes from a model, not from the operator: its host gets no exception from the egress guard.
        return await _crawl_with_progress(settings, request, progress)

    return McpServices(find, page, urls, items, begin if allow_crawl else None)


def crawl_plan(settings: Settings, order: CrawlOrder) -> CrawlPlan:
    """Return the plan of a crawl that a client wants, with the politeness of the settings."""
    start = parse(order.url).href
    return CrawlPlan(
        seeds=(start,),
        bounds=CrawlBounds(
            max_depth=UNBOUNDED_DEPTH if order.depth is None else order.depth, hosts=site_hosts((start,))
        ),
        politeness=Politeness(
            robots=settings.respect_robots,
            delay_ms=round(settings.delay * 1000),
            concurrency=settings.host_concurrency,
        ),
        retries=Retries(max_attempts=settings.max_retries + 1),
        fetch=FetchOptions(user_agents=(settings.user_agent,)),
    )


class _Counts(Watcher):
    """The observer that keeps the counts of a crawl, for progress messages."""

    def __init__(self) -> None:
        self.done, self.total = 0, 1

    def moved(self, run: RunRow, _: WorkerProgress) -> None:
        self.done, self.total = run.admitted - run.open, run.admitted


async def _crawl_with_progress(settings: Settings, request: CrawlRequest, progress: Progress) -> CrawlResult:
    """Crawl, and send progress to the client; a client that goes away or cancels stops the crawl in good order."""
    counts, stop = _Counts(), asyncio.Event()
    crawling = asyncio.create_task(crawl_until(stop, settings, request, counts))
    try:
        while not crawling.done():
            await asyncio.wait([crawling], timeout=PROGRESS_INTERVAL_SECONDS)
            await progress(counts.done, counts.total)
    finally:
        stop.set()
        await asyncio.wait([crawling])
    return await crawling
