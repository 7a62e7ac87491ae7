"""The feeder: polls feeds that are due, and makes tasks of what is new in them.

A poll is a run with one task, so that it waits its host's turn, keeps to robots.txt and asks only for what changed like
any other request. What it brought is read from the archive when the run has ended.
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
    ENTRY_PRIORITY,
    FAILURES,
    HOUR,
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
from longline.model.runs.plan import CrawlPlan
from longline.model.states import TaskState
from longline.plugins import Page
from longline.ports.records.feeds import FeedStore
from longline.ports.records.frontier import TaskStore

log = logging.getLogger(__name__)

AT_ONCE = 100
HOLD_MS = HOUR // 6
"""How many feeds are looked at in one go, and how long a claimed one may take to have its run."""

MAX_READING = 4
"""Documents that are read at once: one that takes long holds up none of the others."""

Read = Callable[[Page], Awaitable[list[str]]]
"""Returns the URLs of the entries of a feed, or raises `NotAFeed`."""


@dataclass(frozen=True, slots=True)
class FeedParts:
    """What polling and searching work with; `find` reads a task's page from the archive."""

    feeds: FeedStore
    tasks: TaskStore
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
    """Asks for feeds and takes what comes back."""

    def __init__(self, parts: FeedParts) -> None:
        self._parts = parts

    async def once(self) -> int:
        """Take in the polls that have ended, then begin those that are due; how many there were of both."""
        return await self.take() + await self.begin()

    async def take(self) -> int:
        """Take in the polls that have ended; how many there were."""
        ended = await self._parts.feeds.answered(AT_ONCE, searching=False)
        await side_by_side([guarded(feed.source_id, self._take(feed)) for feed in ended], MAX_READING)
        return len(ended)

    async def begin(self) -> int:
        """Begin the polls that are due; how many there were."""
        due = await self._parts.feeds.claim(AT_ONCE, HOLD_MS, searching=False)
        for feed in due:
            await guarded(feed.source_id, self._poll(feed))
        return len(due)

    async def _poll(self, feed: FeedRow) -> None:
        plan = polling(self._parts.plan, [feed.url or ""])
        run_id = await self._parts.seeder.ask(RunToMake("poll", plan, feed.source_id))
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
            log.log(level, "a feed failed", extra={"feed": feed.url, "kind": failure.kind, "error": str(failure)})
            rule = partial(failed, kind=failure.kind, error=str(failure))
        else:
            rule = partial(succeeded, seen=seen)
        await p.feeds.change(feed.source_id, partial(rule, run_id=run_id))

    async def _see(self, feed: FeedRow, task: TaskRow) -> Seen:
        kind = failure_of(task.state, task.reason, task.status)
        if kind is not None:
            raise FailedPoll(kind, task.error or task.reason or task.state)
        kept = await self._parts.tasks.page(task.id)
        seen = Seen(kept[1].etag, kept[1].last_modified) if kept else Seen()
        if task.status == NOT_MODIFIED:
            return seen
        entries = await self._entries(task)
        new = await self._parts.seeder.feed("frontier.feed", feed.source_id, entries, ENTRY_PRIORITY)
        log.info("polled a feed", extra={"feed": feed.url, "entries": len(entries), "new": new})
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
    """How something is asked for that is read here: once, for one that fails is counted, and not by a parser."""
    return msgspec.structs.replace(plan, seeds=tuple(urls), max_depth=0, max_attempts=1, parse=False)


async def side_by_side(work: Sequence[Coroutine[None, None, None]], at_once: int) -> None:
    """Do all of the work, some of it at once; raise the first failure when everything has ended."""
    places = asyncio.Semaphore(at_once)

    async def one(part: Coroutine[None, None, None]) -> None:
        async with places:
            await part

    for ended in await asyncio.gather(*map(one, work), return_exceptions=True):
        if ended is not None:
            raise ended


async def guarded(source_id: int, work: Awaitable[None]) -> None:
    """One source's failure never stops the others; what is left undone comes due again by itself."""
    try:
        await work
    except Unavailable:
        raise
    except Exception:
        log.exception("a poll failed in a way nobody foresaw", extra={"source": source_id})
