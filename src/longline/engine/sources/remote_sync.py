"""Synchronisation of sources with a remote source manager.

The sources of the manager are fetched, so that their feeds and sitemaps are read like those of our own. Changes of
feeds are sent back: a feed was found, failed too often, or can be read again.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Mapping

from longline.engine.sources.remote_source_reader import SourceListing, listing, read_source
from longline.model.duration import MINUTE_MS
from longline.model.errors import Conflict, Unavailable
from longline.model.sources.remote_source import MAX_FAILURES
from longline.model.sources.source import RemoteSource, SourceRow
from longline.ports.records.sources import RemoteSourceStore
from longline.ports.sources import Described, ListedSource, SourceManager

log = logging.getLogger(__name__)

BATCH_SIZE, HOLD_MS = 20, MINUTE_MS
"""Sources sent in one round, and milliseconds for which a process holds them; after its death another sends them."""

Now = Callable[[], Awaitable[int]]
"""A function that returns the database's time."""


class RemoteSourceSync:
    """The synchronisation in both directions. With `feeds` the source manager's list of feeds to poll is read too."""

    def __init__(self, manager: SourceManager, remote: RemoteSourceStore, now: Now, *, feeds: bool) -> None:
        self._manager, self._remote, self._now, self._feeds = manager, remote, now, feeds
        self._odd = 0

    async def pull(self) -> int:
        """Store the source manager's sources; return how many changed."""
        asked_at = await self._now()
        every = await listing(self._manager.page)
        active = await listing(self._active) if self._feeds else None
        sources = every.sources | (active.sources if active else {})
        changed = await self._remote.take(self._read_sources(sources, active), asked_at)
        if every.whole:
            await self._withdraw(sources)
        if changed:
            log.info("remote sources changed", extra={"changed": changed, "all": len(sources)})
        return changed

    async def push(self) -> int:
        """Send changes that the source manager does not have yet; return how many sources were sent."""
        rows = await self._remote.claim(BATCH_SIZE, HOLD_MS)
        # Sources that the source manager cannot take today must not always be before the others.
        random.shuffle(rows)
        sent, failures = list[SourceRow](), list[Unavailable]()
        for row in rows:
            try:
                await self._send_change(row)
            except Unavailable as error:
                failures.append(error)
                if len(failures) >= MAX_FAILURES:
                    break
            else:
                sent.append(row)
                await self._remote.mark_reported(row)
        if failures:
            await self._remote.release([row for row in rows if row not in sent])
            raise failures[0]
        return len(sent)

    async def _active(self, number: int) -> ListedSource:
        return await self._manager.page(number, feed_active=True)

    def _read_sources(self, sources: Mapping[str, Described], active: SourceListing | None) -> list[RemoteSource]:
        found = [read_source(said, _listed(ref, active)) for ref, said in sources.items()]
        made = [source for source in found if source is not None]
        odd = len(found) - len(made)
        if odd > self._odd:  # logged once, not with every list
            log.warning("remote source list has invalid entries", extra={"count": odd})
        self._odd = odd
        return made

    async def _withdraw(self, sources: Mapping[str, Described]) -> None:
        """Withdraw sources that are not on the list, nor found by id, for the list may have moved."""
        missing = [ref for ref in await self._remote.present() if ref not in sources]
        gone = [ref for ref in missing if await self._manager.get(ref) is None]
        if gone:
            await self._remote.withdraw(gone)
            log.info("remote sources removed", extra={"count": len(gone)})

    async def _send_change(self, row: SourceRow) -> None:
        try:
            await self._send(row)
        except Conflict as error:
            log.warning("source service rejected a feed status", extra={"source": row.ref, "error": str(error)})

    async def _send(self, row: SourceRow) -> None:
        ref, rests_since = row.ref or "", row.feed_disabled_at
        if row.feed_url and row.feed_url != row.reported_feed_url:
            await self._send_feed_url(ref, row.feed_url)
        if rests_since == row.reported_feed_disabled_at:
            return
        if rests_since is None:
            await self._manager.enable_feed(ref)
        else:
            await self._manager.disable_feed(ref, row.feed_disable_reason or "unexpected")

    async def _send_feed_url(self, ref: str, feed_url: str) -> None:
        """Send a whole source with its feed, unless the source manager has a feed by now."""
        said = await self._manager.get(ref)
        if said is not None and not said.get("feed_url"):
            await self._manager.put(ref, said | {"feed_url": feed_url})


def _listed(ref: str, active: SourceListing | None) -> bool | None:
    """Return whether a feed is to be polled; None when the list of feeds was not read, or is not whole."""
    if active is None:
        return None
    return True if ref in active.sources else False if active.whole else None
