"""Pages of a run's log, from the database and, for entries that were deleted there, from the archive."""

import asyncio
import gzip
import logging
from collections.abc import Iterator

import msgspec

from longline.model.errors import BadInput, NotFound
from longline.model.logs.run_log import LEVELS, LogEntry, LogPage, LogQuery, StoredLogPage, read_line
from longline.ports.blobs import Blobs
from longline.ports.records.logs import LogPageStore

log = logging.getLogger(__name__)

MAX_PAGE_ENTRIES = 1000
"""Largest number of entries in one page."""


class LogPages:
    """Pages of the logs of runs, by number, level and time."""

    def __init__(self, pages: LogPageStore, blobs: Blobs) -> None:
        self._pages, self._blobs = pages, blobs

    async def get(self, run_id: int, query: LogQuery, limit: int = 100) -> LogPage:
        """Return the first entries that fit; the log of a run without entries is empty."""
        if query.level is not None and query.level not in LEVELS:
            raise BadInput(f"level must be one of {', '.join(LEVELS)}")
        limit = max(0, min(limit, MAX_PAGE_ENTRIES))
        stored = await self._pages.page(run_id, query, limit)
        if stored is None:
            return LogPage([], dict.fromkeys(LEVELS, 0))
        total = sum(stored.counts.values()) if query.level is None else stored.counts[query.level]
        first = stored.last + 1 if stored.first is None else stored.first
        earlier: list[LogEntry] | None = []
        if stored.after + 1 < first:
            earlier = await self._archived(run_id, stored, query, first)
        entries = [*(earlier or ()), *stored.entries][:limit]
        truncated = earlier is None
        return LogPage(entries, stored.counts, total, stored.last, sealed=stored.sealed, truncated=truncated)

    async def _archived(
        self, run_id: int, stored: StoredLogPage, query: LogQuery, before: int
    ) -> list[LogEntry] | None:
        """Return archived entries that fit, up to the first in the database; None when they are gone."""
        if stored.key is None:
            return None
        try:
            data = await self._blobs.get(stored.key)
        except NotFound:
            log.warning("archived run log is gone", extra={"run": run_id, "key": stored.key})
            return None
        return await asyncio.to_thread(_chosen, data, run_id, stored.kept, query, before)


def _chosen(data: bytes, run_id: int, kept: int, query: LogQuery, before: int) -> list[LogEntry]:
    """Return the entries of an archived log that fit a query and have a smaller number than `before`."""
    return [entry for entry in _entries(data, run_id, kept) if entry.number < before and query.takes(entry)]


def _entries(data: bytes, run_id: int, kept: int) -> Iterator[LogEntry]:
    lines = gzip.decompress(data).splitlines()
    # The last line is the last entry that was archived; numbers have no gap.
    for number, line in enumerate(lines, kept - len(lines) + 1):
        yield read_line(msgspec.json.decode(line), run_id, number)
