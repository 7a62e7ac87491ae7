"""Logs of runs for pages: the newest entries that fit a filter, and those that follow, each once.

All followers of a run in this process share one reader. A follower that is behind the shared entries reads pages of its
own until it has caught up, so that a broken connection costs no entry.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator

import msgspec

from longline.model.errors import Unavailable
from longline.model.logs.run_log import LEVELS, LogEntry, LogPage, LogQuery, written_fields
from longline.services.logs.log_pages import LogPages
from longline.services.logs.run_logs import RETRY_INTERVAL_SECONDS, Followers

BATCH_SIZE = 500
MAX_SHARED_ENTRIES = 2000
MAX_SEARCHED_ENTRIES = 10_000
"""Number of the newest entries that are searched for those that fit."""


_log = logging.getLogger(__name__)


class LogMatch(msgspec.Struct, frozen=True):
    """A filter of entries: their levels, and a text in their message or one of their values, in any case."""

    levels: frozenset[str] = frozenset(LEVELS)
    text: str = ""

    def takes(self, entry: LogEntry) -> bool:
        """Return whether an entry fits."""
        if entry.level not in self.levels:
            return False
        wanted = self.text.lower()
        return wanted in entry.message.lower() or any(
            wanted in value.lower() for value in written_fields(entry).values()
        )


class LogExcerpt(msgspec.Struct, frozen=True):
    """The newest entries that fit, oldest first; entries before number `searched_from` were not searched."""

    entries: list[LogEntry]
    last: int
    searched_from: int
    counts: dict[str, int]
    is_sealed: bool = False


class LogNews(msgspec.Struct, frozen=True):
    """Entries that fit, in their order, and the number of the last entry of the log."""

    entries: list[LogEntry]
    last: int


class _SharedTail:
    """The newest entries of one run, shared by its followers."""

    def __init__(self, last: int) -> None:
        self.entries: deque[LogEntry] = deque(maxlen=MAX_SHARED_ENTRIES)
        self.last, self.followers, self.is_sealed = last, 0, False
        self.news = asyncio.Event()
        self.reading: asyncio.Task[None] | None = None

    @property
    def first(self) -> int:
        """The smallest number of which all later entries are shared."""
        return self.entries[0].number if self.entries else self.last + 1

    def add(self, page: LogPage) -> None:
        """Share the entries of a page and wake the followers."""
        if page.entries:
            self.entries.extend(page.entries)
            self.last = page.entries[-1].number
            self.news.set()
            self.news = asyncio.Event()
        self.is_sealed = page.sealed


class LiveLogs:
    """The logs of runs that pages show and follow."""

    def __init__(self, pages: LogPages, followers: Followers) -> None:
        self._pages, self._followers = pages, followers
        self._tails: dict[int, _SharedTail] = {}

    async def newest(self, run_id: int, match: LogMatch, limit: int) -> LogExcerpt:
        """Return the newest entries that fit; a bounded number of entries is searched."""
        head = await self._pages.get(run_id, LogQuery(), 0)
        found: list[LogEntry] = []
        begin = head.last
        end = max(0, head.last - MAX_SEARCHED_ENTRIES)
        while begin > end and len(found) < limit:
            before, begin = begin, max(end, begin - BATCH_SIZE)
            page = await self._pages.get(run_id, LogQuery(after=begin), before - begin)
            found = [entry for entry in page.entries if entry.number <= before and match.takes(entry)] + found
        return LogExcerpt(found[-limit:], head.last, begin + 1, head.counts, is_sealed=head.sealed)

    async def follow(self, run_id: int, match: LogMatch, after: int) -> AsyncGenerator[LogNews]:
        """Yield the entries behind number `after` that fit, and then new ones, each once."""
        tail = await self._join(run_id)
        try:
            while True:
                news = tail.news
                if after + 1 < tail.first:
                    entries, after = await self._catch_up(run_id, after, tail.first - 1)
                else:
                    entries, after = [entry for entry in tail.entries if entry.number > after], max(after, tail.last)
                if found := [entry for entry in entries if match.takes(entry)]:
                    yield LogNews(found, tail.last)
                elif after >= tail.last:
                    await news.wait()
        finally:
            self._leave(run_id, tail)

    async def _catch_up(self, run_id: int, after: int, until: int) -> tuple[list[LogEntry], int]:
        page = await self._pages.get(run_id, LogQuery(after=after), BATCH_SIZE)
        entries = [entry for entry in page.entries if entry.number <= until]
        return entries, entries[-1].number if entries else until

    async def _join(self, run_id: int) -> _SharedTail:
        if run_id not in self._tails:
            head = await self._pages.get(run_id, LogQuery(), 0)
            tail = self._tails.setdefault(run_id, _SharedTail(head.last))
            if tail.reading is None:
                tail.reading = asyncio.create_task(self._read(run_id, tail))
        tail = self._tails[run_id]
        tail.followers += 1
        return tail

    def _leave(self, run_id: int, tail: _SharedTail) -> None:
        tail.followers -= 1
        if not tail.followers and tail.reading is not None:
            tail.reading.cancel()
            self._tails.pop(run_id, None)

    async def _read(self, run_id: int, tail: _SharedTail) -> None:
        while True:
            try:
                page = await self._pages.get(run_id, LogQuery(after=tail.last), BATCH_SIZE)
            except Unavailable as error:
                _log.warning("run log not readable, will retry", extra={"error": str(error)})
                await asyncio.sleep(RETRY_INTERVAL_SECONDS)
                continue
            tail.add(page)
            if not page.entries:
                await self._followers.wait(run_id)
