"""Logs of manifests, by offset: from the database or the archive, and followed until the manifest has ended."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import msgspec

from longline.model.logs.run_log import LogEntry, LogQuery
from longline.model.manifests.manifest import ManifestSnapshot
from longline.services.logs.log_pages import LogPages
from longline.services.logs.run_logs import Followers
from longline.services.manifests.snapshots import ManifestSnapshots

BATCH_SIZE = 500

MAX_EMPTY_WAITS = 3
"""Waits, of a second each, for the first entry of an ended run: the run may be one without a log."""


class LoggedLine(msgspec.Struct, frozen=True):
    """An entry of a manifest's log; `truncated` is true for the first one where earlier entries are not kept."""

    entry: LogEntry
    truncated: bool = False


IsEnded = Callable[[ManifestSnapshot], bool]


class ManifestLogs:
    """The logs of manifests."""

    def __init__(self, pages: LogPages, snapshots: ManifestSnapshots, followers: Followers | None = None) -> None:
        self._pages, self._snapshots, self._followers = pages, snapshots, followers

    async def read(
        self, found: ManifestSnapshot, since: int, limit: int | None, follow: Callable[[], Awaitable[bool]] | None
    ) -> AsyncGenerator[LoggedLine]:
        """Yield entries from the number `since` on; with `follow`, new ones too until it returns False."""
        after, sent, is_first, waits = max(0, since - 1), 0, True, 0
        while limit is None or sent < limit:
            is_open = follow is not None and await follow()
            room = BATCH_SIZE if limit is None else min(BATCH_SIZE, limit - sent)
            page = await self._pages.get(found.run_id, LogQuery(after), room)
            for entry in page.entries:
                yield LoggedLine(entry, truncated=is_first and page.truncated)
                after, sent, is_first = entry.number, sent + 1, False
            if page.entries:
                continue
            # Entries of an ended run come a little later than its end, until its log is sealed.
            is_done = not is_open and (page.sealed or (not page.last and waits >= MAX_EMPTY_WAITS))
            waits += not is_open
            if follow is None or is_done or self._followers is None or self._followers.is_closed:
                return
            await self._followers.wait(found.run_id)
