"""Polls of feeds that are due; new entries become tasks.

A poll is a run with one task, so that it waits its host's turn, keeps to robots.txt and sends conditional requests like
any other task. The feed is read from the archive when the run has ended.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from longline.engine.frontier.seeding import RunToMake, Seeder
from longline.model.errors import Unavailable
from longline.model.feeds.feed import NotAFeed
from longline.model.feeds.feed_poll import (
    CLAIM_MS,
    ENTRY_PRIORITY,
    FAILURES,
    NOT_MODIFIED,
    FeedRow,
    Seen,
    asked,
    dropped,
    failed,
    failure_of,
    succeeded,
)
from longline.model.frontier.task import TaskRow
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.states import TaskState
from longline.plugins import Page
from longline.ports.records.archive import PageStore
from longline.ports.records.feeds import FeedStore

log = logging.getLogger(__name__)

LOOK_INTERVAL_SECONDS = 5.0
"""Seconds between two looks for feeds whose runs have ended."""

BATCH_SIZE = 100
"""Largest number of feeds handled in one go."""

MAX_CONCURRENT_READS = 4
"""Largest number of documents read at once, so that a slow document holds up none of the others."""

Read = Callable[[Page], Awaitable[list[str]]]
"""Function that returns the URLs of a feed's entries, or raises `NotAFeed`."""


@dataclass(frozen=True, slots=True)
class FeedParts:
    """The parts of polling and searching; `find` reads a task's page from the archive."""

    feeds: FeedStore
    pages: PageStore
    seeder: Seeder
    find: Callable[[int], Awaitable[Page | None]]
    read: Read
    plan: CrawlPlan


class FailedPoll(Exception):
    """A poll that failed; `kind` is one of `FAILURES`."""

    def __init__(self, kind: str, error: str) -> None:
        super().__init__(error)
        self.kind = kind


class FeedPoller:
    """A poller that begins polls of feeds and processes their results."""

    def __init__(self, parts: FeedParts) -> None:
        self._parts = parts

    async def once(self) -> int:
        """Process the polls that have ended, then begin the due ones; return the number of both."""
        return await self.take() + await self.begin()

    async def take(self) -> int:
        """Process the polls that have ended; return their number."""
        ended = await self._parts.feeds.answered(BATCH_SIZE, searching=False)
        await side_by_side([guarded(feed.source_id, self._take(feed)) for feed in ended], MAX_CONCURRENT_READS)
        return len(ended)

    async def begin(self) -> int:
        """Begin the polls that are due; return their number."""
        due = await self._parts.feeds.claim(BATCH_SIZE, CLAIM_MS, searching=False)
        for feed in due:
            await guarded(feed.source_id, self._poll(feed))
        return len(due)

    async def _poll(self, feed: FeedRow) -> None:
        plan = polling(self._parts.plan, [feed.url or ""])
        run_id = await self._parts.seeder.ask(RunToMake(RunKind.FEED_POLL, plan, feed.source_id))
        await self._parts.feeds.change(feed.source_id, partial(asked, run_id=run_id, stage="poll"))

    async def _take(self, feed: FeedRow) -> None:
        p, run_id = self._parts, feed.run_id or 0
        task = next(iter(reversed(await p.seeder.tasks_of(run_id))), None)
        if task is None or task.state == TaskState.CANCELLED:
            await p.feeds.change(feed.source_id, partial(dropped, run_id=run_id))
            return
        try:
            seen = await self._see(feed, task)
        except FailedPoll as failure:
            level = logging.ERROR if FAILURES[failure.kind].surprising else logging.WARNING
            log.log(level, "feed poll failed", extra={"feed": feed.url, "kind": failure.kind, "error": str(failure)})
            rule = partial(failed, kind=failure.kind, error=str(failure))
        else:
            rule = partial(succeeded, seen=seen)
        await p.feeds.change(feed.source_id, partial(rule, run_id=run_id))

    async def _see(self, feed: FeedRow, task: TaskRow) -> Seen:
        kind = failure_of(task.state, task.reason, task.status)
        if kind is not None:
            raise FailedPoll(kind, task.error or task.reason or task.state)
        kept = await self._parts.pages.get(task.id)
        seen = Seen(kept.etag, kept.last_modified) if kept else Seen()
        if task.status == NOT_MODIFIED:
            return seen
        entries = await self._entries(task)
        new = await self._parts.seeder.feed(RunKind.STANDING_FEED, feed.source_id, entries, ENTRY_PRIORITY)
        log.info("feed polled", extra={"feed": feed.url, "entries": len(entries), "new": new})
        return msgspec.structs.replace(seen, entries=len(entries))

    async def _entries(self, task: TaskRow) -> list[str]:
        page = await self._parts.find(task.id)
        if page is None:
            raise FailedPoll("unexpected", "the page is no longer in the archive")
        try:
            return await self._parts.read(page)
        except NotAFeed as error:
            raise FailedPoll("parse_error", str(error)) from None


def polling(plan: CrawlPlan, urls: Sequence[str]) -> CrawlPlan:
    """Return a plan that fetches URLs once, since the caller counts failures, and leaves parsing to the caller."""
    return msgspec.structs.replace(
        plan,
        seeds=tuple(urls),
        bounds=msgspec.structs.replace(plan.bounds, max_depth=0),
        retries=msgspec.structs.replace(plan.retries, max_attempts=1),
        parse=msgspec.structs.replace(plan.parse, enabled=False),
    )


async def side_by_side(work: Sequence[Coroutine[None, None, None]], at_once: int) -> None:
    """Run all of the work, `at_once` parts at a time; raise the first failure when everything has ended."""
    places = asyncio.Semaphore(at_once)

    async def one(part: Coroutine[None, None, None]) -> None:
        async with places:
            await part

    for ended in await asyncio.gather(*map(one, work), return_exceptions=True):
        if ended is not None:
            raise ended


async def guarded(source_id: int, work: Awaitable[None]) -> None:
    """Run the work for one source; an unexpected failure stops no other source, and undone work comes due again."""
    try:
        await work
    except Unavailable:
        raise
    except Exception:
        log.exception("unexpected error in a feed poll", extra={"source": source_id})
