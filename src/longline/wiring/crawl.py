"""`longline crawl`: one run from one seed, in a folder of its own, by a worker of its own."""

import asyncio
import signal
from collections.abc import Callable

import msgspec

from longline.engine.frontier.withdrawn_tasks import WithdrawnTaskFilter
from longline.engine.worker.reporter import ReportParts
from longline.model.errors import BadInput
from longline.model.frontier.worker import FETCH, PARSE
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.signal_topics import WANT_TOPIC
from longline.model.urls.url import parse
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY
from longline.plugins.parser_reload import LoadedParsers
from longline.services.archive.parser_report import ParserUses
from longline.services.crawls.crawl_loop import CrawlLoop, CrawlLoopParts, CrawlResult, Watcher
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls, CrawlStores
from longline.services.exports.item_tables import ItemOutputs
from longline.services.search.item_changes import ItemChanges
from longline.services.sinks.crawl_sinks import CrawlSinks
from longline.settings import Settings
from longline.wiring.platform import (
    Platform,
    check_config_has_parser,
    migrate_tables,
    open_platform,
    registered_worker,
)
from longline.wiring.signals import listener
from longline.wiring.subjects.exports import check_places, live_items
from longline.wiring.subjects.metrics import counting
from longline.wiring.subjects.sinks import addressed_sinks, check_sinks, open_deliveries
from longline.wiring.worker import fetch_metrics, fetch_worker


async def crawl(
    settings: Settings, request: CrawlRequest, watcher: Watcher, outputs: ItemOutputs | None = None
) -> CrawlResult:
    """Crawl until no task is open or a signal stops the crawl; either way everything so far is kept."""
    check_places(outputs.files if outputs else ())
    stop = asyncio.Event()
    _on_interrupt(stop.set)
    # A typed URL may name an internal host; links on its pages do not allow further internal hosts.
    typed = frozenset(parse(url).hostname for url in request.plan.seeds)
    return await crawl_until(stop, settings, request, watcher, outputs, typed, "--out")


async def crawl_until(
    stop: asyncio.Event,
    settings: Settings,
    request: CrawlRequest,
    watcher: Watcher,
    outputs: ItemOutputs | None = None,
    trusted: frozenset[str] = frozenset(),
    folder_flag: str = "--data",
) -> CrawlResult:
    """Crawl until no task is open or `stop` is set; `trusted` are host names that the operator typed."""

    def check(parsers: LoadedParsers) -> None:
        config = request.plan.config
        check_config_has_parser(config)
        parsers.check(config.get(PARSER_KEY) or "", config.get(CONFIG_KEY) or {})
        check_sinks(parsers, settings.sinks)

    async with open_platform(settings, trusted, folder_flag=folder_flag, check=check) as platform:
        await _prepare(platform, request)
        sinks = addressed_sinks(platform, settings.sinks)
        async with (
            counting(platform),
            registered_worker(platform, frozenset({FETCH, PARSE})) as owner,
            open_deliveries(platform, sinks, owner) as deliveries,
        ):
            parts = _crawl_loop_parts(platform, owner, outputs, CrawlSinks(deliveries, platform.clock))
            result = await CrawlLoop(parts, watcher).run(request, stop)
            await platform.records.sessions.drop_ended()
            use = await parser_uses(platform).of_run(result.run)
            return msgspec.structs.replace(result, parser_use=use)


async def _prepare(platform: Platform, request: CrawlRequest) -> None:
    """Check the engines, and make the tables: faults are reported now, not after the first page."""
    await migrate_tables(platform, may_migrate=True)
    await _check_render_service(platform, request)
    await platform.blobs.check()
    # A process that was killed in this folder, or stopped for longer than its leases, holds nothing any more.
    await platform.reaper.once()


async def _check_render_service(platform: Platform, request: CrawlRequest) -> None:
    """Raise `BadInput` for a crawl that goes on with rendered pages and names no render service."""
    earlier = await platform.records.runs.latest(RunKind.CRAWL, parse(request.plan.seeds[0]).href)
    if earlier is not None and CrawlPlan.read(earlier.plan).fetch.render and not platform.settings.render_url:
        raise BadInput("the pages of this crawl are rendered; name the render service with --render-url")


def _crawl_loop_parts(platform: Platform, owner: int, outputs: ItemOutputs | None, sinks: CrawlSinks) -> CrawlLoopParts:
    reported = asyncio.Event()
    worker = fetch_worker(
        platform, owner, watch=lambda _: reported.set(), report=ReportParts([fetch_metrics(platform)])
    )
    return CrawlLoopParts(
        crawls=Crawls(platform.lifecycle, crawl_stores(platform)),
        changes=ItemChanges(platform.records.runs, platform.records.item_changes),
        history=platform.records.history,
        worker=worker,
        reported=reported,
        sharing=listener(platform, WANT_TOPIC, worker.share),
        withdrawn=WithdrawnTaskFilter(worker.hand, platform.lifecycle.tasks, owner, platform.records.holds),
        reaper=platform.reaper,
        indexer=platform.indexer,
        owner=owner,
        lease_seconds=platform.settings.lease,
        sinks=sinks,
        live_items=live_items(platform.records.items, platform.clock, outputs) if outputs else None,
    )


def parser_uses(platform: Platform) -> ParserUses:
    """Return the reader of the use of own parsers."""
    return ParserUses(platform.parsers, platform.records.pages, platform.records.tasks)


def crawl_stores(platform: Platform) -> CrawlStores:
    """Return the stores of crawls."""
    records = platform.records
    return CrawlStores(records.runs, records.workers, records.refused_urls, platform.vault)


def _on_interrupt(act: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, act)
