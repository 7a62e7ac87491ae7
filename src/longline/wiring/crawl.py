"""`longline crawl`: one run from one seed, in a folder of its own, by a worker of its own."""

import asyncio
import signal
from collections.abc import Callable

import msgspec

from longline.engine.loops import chore, run_loops
from longline.engine.worker.worker import Progress
from longline.model.errors import NeedsOperator
from longline.model.runs.plan import CrawlPlan
from longline.model.runs.run import Fate, RunRow
from longline.model.states import RUN_ENDED
from longline.model.url import parse
from longline.services.crawls import Crawls, OpenedRun
from longline.settings import Settings
from longline.wiring.house import WANT, House, joined, open_house, ready_tables
from longline.wiring.signals import listener
from longline.wiring.worker import fetch_worker

LOOK_EVERY = 0.2
INDEX_EVERY = 0.5
FETCH = frozenset({"fetch", "parse"})
FATAL = (NeedsOperator,)


class CrawlRequest(msgspec.Struct, frozen=True):
    """A request for a crawl. `again` starts anew where the last run from this seed has ended."""

    plan: CrawlPlan
    limit: int | None = None
    again: bool = False


class CrawlResult(msgspec.Struct, frozen=True):
    """The result of a crawl."""

    run: RunRow
    fates: list[Fate]
    resumed: bool
    untouched: bool
    errors: tuple[tuple[str, int, str], ...] = ()
    """Error texts, the count of each, and the URL of the last failure; the most frequent first."""


class Watcher:
    """An observer of a crawl, for the person at the screen; the default shows nothing."""

    def opened(self, run: RunRow, *, resumed: bool) -> None:
        """Show that the run was opened."""

    def moved(self, run: RunRow, progress: Progress) -> None:
        """Show the progress of the run."""


async def crawl(settings: Settings, request: CrawlRequest, watcher: Watcher) -> CrawlResult:
    """Crawl until no task is open or a signal stops the crawl; either way everything so far is kept."""
    stop = asyncio.Event()
    _on_interrupt(stop.set)
    # A typed URL may name an internal host; links on its pages do not allow further internal hosts.
    typed = frozenset(parse(url).hostname for url in request.plan.seeds)
    async with open_house(settings, typed) as house:
        house.parser.check(request.plan.config)
        await ready_tables(house, may_migrate=True)
        # A person watches: an unusable object store is reported now, not after the first page.
        await house.blobs.check()
        # A process that was killed in this folder, or stopped for longer than its leases, holds nothing any more.
        await house.reaper.once()
        crawls = Crawls(house.lifecycle, house.records.runs)
        async with joined(house, FETCH) as owner:
            lease_ms = round(settings.lease * 1000)
            opened = await crawls.open(request.plan, request.limit, owner, lease_ms, again=request.again)
            watcher.opened(opened.run, resumed=opened.resumed)
            if opened.token is not None:
                await _work(house, crawls, opened, owner, watcher, stop)
        run = await crawls.get(opened.run.id)
        reviewed = await house.records.history.review([run.id]) if run.failed else {}
        errors = reviewed[run.id].survey.errors if run.id in reviewed else ()
        return CrawlResult(run, await crawls.fates(run.id), opened.resumed, opened.token is None, errors)


async def _work(
    house: House, crawls: Crawls, opened: OpenedRun, owner: int, watcher: Watcher, stop: asyncio.Event
) -> None:
    reported, done = asyncio.Event(), asyncio.Event()
    worker = fetch_worker(house, owner, watch=lambda _: reported.set())
    lease = house.settings.lease

    async def look() -> None:
        if isinstance(worker.trouble, NeedsOperator):
            raise worker.trouble
        run = await crawls.get(opened.run.id)
        watcher.moved(run, worker.progress)
        if run.state in RUN_ENDED:
            done.set()

    async def hold() -> None:
        nonlocal opened
        opened = await crawls.hold(opened, owner, round(lease * 1000))

    loops = [
        asyncio.create_task(worker.run(done)),
        # After every report, as the last one ends the run; and at intervals, as other workers may take part in the run.
        # A person waits: a full disk or a damaged database ends the crawl, with advice.
        asyncio.create_task(chore(look, LOOK_EVERY, reported, fatal=FATAL)(done)),
        asyncio.create_task(chore(hold, lease / 3, fatal=FATAL)(done)),
        asyncio.create_task(chore(house.reaper.once, 5.0, fatal=FATAL)(done)),
        asyncio.create_task(chore(house.indexer.once, INDEX_EVERY, fatal=FATAL)(done)),
        asyncio.create_task(run_loops({"sharing": listener(house, WANT, worker.share)}, done)),
    ]
    waiting = asyncio.create_task(stop.wait())
    waiting.add_done_callback(lambda _: done.set())
    try:
        await asyncio.gather(*loops)
    finally:
        done.set()
        waiting.cancel()
        # When one loop failed, the worker still has leases to give back.
        await asyncio.gather(*loops, waiting, return_exceptions=True)
    await house.indexer.once()
    await look()
    await crawls.leave(opened)


def _on_interrupt(act: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, act)
