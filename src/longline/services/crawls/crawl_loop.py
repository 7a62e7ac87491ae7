"""The loop of a single crawl: one worker fetches one run until no task is open or the crawl is stopped."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from longline.engine.frontier.lapsed_leases import Reaper
from longline.engine.frontier.withdrawn_tasks import WITHDRAWAL_INTERVAL_SECONDS, WithdrawnTaskFilter
from longline.engine.loop_supervisor import Loop, chore, run_loops
from longline.engine.search.indexer import Indexer
from longline.engine.worker.worker import Progress, Worker
from longline.model.errors import NeedsOperator
from longline.model.runs.run import Fate, RunRow
from longline.ports.records.runs.runs import RunHistoryStore
from longline.services.archive.parser_report import ParserUse
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls, OpenedRun
from longline.services.exports.item_tables import LiveItems, WrittenTables
from longline.services.search.item_changes import ChangeCounts, ItemChanges
from longline.services.sinks.crawl_sinks import CrawlSinks, Undelivered

PROGRESS_INTERVAL_SECONDS = 0.2
INDEX_INTERVAL_SECONDS = 0.5
ITEMS_INTERVAL_SECONDS = 0.5
REAP_INTERVAL_SECONDS = 5.0

FATAL = (NeedsOperator,)
"""Failures that end the crawl: a person waits, and a full disk or a damaged database needs advice."""


class CrawlResult(msgspec.Struct, frozen=True):
    """The result of a crawl."""

    run: RunRow
    fates: list[Fate]
    resumed: bool
    untouched: bool
    errors: tuple[tuple[str, int, str], ...] = ()
    """Error texts, the count of each, and the URL of the last failure; the most frequent first."""
    changes: ChangeCounts | None = None
    """Numbers of changed and gone items of a run that has ended, if there was a run before."""

    items: WrittenTables = WrittenTables()
    """Files of items that were asked for."""

    pipe_closed: bool = False
    """Whether the crawl was stopped because the reader of its items has gone."""

    refused: Mapping[str, int] = {}
    """Numbers of URLs that the bounds refused, by reason."""

    dropped: int = 0
    """Number of refused links that are counted, but not stored."""

    taken_up: int = 0
    """Number of URLs that earlier bounds refused and the present ones admitted."""

    parser_use: ParserUse = ParserUse()
    """Use of the operator's own parsers."""

    undelivered: tuple[Undelivered, ...] = ()
    """Sinks for which items still wait."""


class Watcher:
    """An observer of a crawl, for the person at the screen; the default shows nothing."""

    def opened(self, run: RunRow, *, resumed: bool) -> None:
        """Show that the run was opened."""

    def moved(self, run: RunRow, progress: Progress) -> None:
        """Show the progress of the run."""


@dataclass(frozen=True, slots=True)
class CrawlLoopParts:
    """The collaborators of a crawl loop. The worker sets `reported` after each report; `sharing` runs beside it."""

    crawls: Crawls
    changes: ItemChanges
    history: RunHistoryStore
    worker: Worker
    reported: asyncio.Event
    sharing: Loop
    withdrawn: WithdrawnTaskFilter
    reaper: Reaper
    indexer: Indexer
    owner: int
    lease_seconds: float
    live_items: LiveItems | None = None
    sinks: CrawlSinks | None = None


class CrawlLoop:
    """One crawl: the run's lease, its worker, and the chores beside the worker."""

    def __init__(self, parts: CrawlLoopParts, watcher: Watcher) -> None:
        self._parts, self._watcher = parts, watcher
        self._crawls, self._lease_ms = parts.crawls, round(parts.lease_seconds * 1000)
        self._done = asyncio.Event()

    async def run(self, request: CrawlRequest, stop: asyncio.Event) -> CrawlResult:
        """Crawl until no task is open or `stop` is set; either way everything so far is kept."""
        opened = await self._crawls.open(request, self._parts.owner, self._lease_ms)
        self._watcher.opened(opened.run, resumed=opened.resumed)
        if self._parts.sinks is not None:
            await self._parts.sinks.open(opened.run.id)
        if opened.token is not None:
            await self._work(opened, stop)
        run = await self._crawls.get(opened.run.id)
        reviewed = await self._parts.history.review([run.id]) if run.failed else {}
        errors = reviewed[run.id].survey.errors if run.id in reviewed else ()
        fates, refused = await self._crawls.fates(run.id), await self._crawls.refused(run.id)
        changes = await self._parts.changes.counts(run) if run.ended else None
        result = CrawlResult(
            run, fates, opened.resumed, opened.token is None, errors, changes, refused=refused, taken_up=opened.taken_up
        )
        result = msgspec.structs.replace(result, dropped=await self._crawls.dropped(run.id))
        if self._parts.sinks is not None:
            undelivered = await self._parts.sinks.finish(stop)
            result = msgspec.structs.replace(result, undelivered=undelivered)
        live = self._parts.live_items
        if live is None:
            return result
        return msgspec.structs.replace(result, items=await live.finish(run.id), pipe_closed=live.broken)

    async def _work(self, opened: OpenedRun, stop: asyncio.Event) -> None:
        async def look() -> None:
            await self._look(opened.run.id)

        async def hold() -> None:
            nonlocal opened
            opened = await self._crawls.hold(opened, self._parts.owner, self._lease_ms)

        parts, done = self._parts, self._done
        loops = [
            asyncio.create_task(parts.worker.run(done)),
            # After each report, as the last one ends the run; and at intervals, as other workers may take part.
            asyncio.create_task(chore(look, PROGRESS_INTERVAL_SECONDS, parts.reported, fatal=FATAL)(done)),
            asyncio.create_task(chore(hold, parts.lease_seconds / 3, fatal=FATAL)(done)),
            asyncio.create_task(chore(parts.reaper.once, REAP_INTERVAL_SECONDS, fatal=FATAL)(done)),
            asyncio.create_task(chore(parts.withdrawn.once, WITHDRAWAL_INTERVAL_SECONDS, fatal=FATAL)(done)),
            asyncio.create_task(chore(parts.indexer.once, INDEX_INTERVAL_SECONDS, fatal=FATAL)(done)),
            asyncio.create_task(run_loops({"sharing": parts.sharing}, done)),
            *self._live_items(opened.run.id),
            *self._sinks(),
        ]
        await self._until_done(loops, stop)
        await parts.indexer.once()
        await look()
        await self._crawls.release(opened)

    def _live_items(self, run_id: int) -> "list[asyncio.Task[None]]":
        """Return the loop that writes items while they come, if items are to be written."""
        live, done = self._parts.live_items, self._done
        if live is None:
            return []

        async def write() -> None:
            await live.write_new(run_id)
            if live.broken:
                done.set()

        return [asyncio.create_task(chore(write, ITEMS_INTERVAL_SECONDS, fatal=FATAL)(done))]

    def _sinks(self) -> "list[asyncio.Task[None]]":
        """Return the loops that send items to sinks while they come."""
        loops = self._parts.sinks.loops() if self._parts.sinks else []
        return [asyncio.create_task(loop(self._done)) for loop in loops]

    async def _look(self, run_id: int) -> None:
        """Show the progress of the run, and end the loops when the run has ended."""
        if isinstance(self._parts.worker.obstacle, NeedsOperator):
            raise self._parts.worker.obstacle
        run = await self._crawls.get(run_id)
        self._watcher.moved(run, self._parts.worker.progress)
        if run.ended:
            self._done.set()

    async def _until_done(self, loops: "list[asyncio.Task[None]]", stop: asyncio.Event) -> None:
        waiting = asyncio.create_task(stop.wait())
        waiting.add_done_callback(lambda _: self._done.set())
        try:
            await asyncio.gather(*loops)
        finally:
            self._done.set()
            waiting.cancel()
            # When one loop failed, the worker still has leases to give back.
            await asyncio.gather(*loops, waiting, return_exceptions=True)
