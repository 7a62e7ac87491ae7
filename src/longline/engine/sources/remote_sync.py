"""The courier: goes between us and the service that keeps sources.

It brings what the service has, so that feeds and sitemaps of its sources are read like those of our own, and takes back
what the service is to know: a feed that was found, one that failed too often, one that can be read again.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Mapping

from longline.engine.sources.remote_source import SourceListing, listing, made_out
from longline.model.errors import Conflict, Unavailable
from longline.model.feeds.feed_poll import MINUTE
from longline.model.sources.source import RemoteSource, SourceRow
from longline.ports.records.sources import RemoteSourceStore
from longline.ports.sources import Described, ListedSource, SourceManager

log = logging.getLogger(__name__)

MOST_FAILURES = 3
"""After so many failures in one go the service is taken to be away."""

AT_ONCE, HOLD_MS = 20, MINUTE
"""How much is told in one go, and how long that may take; whoever dies meanwhile has it told by another then."""

Now = Callable[[], Awaitable[int]]
"""The database's time."""


class RemoteSourceSync:
    """Brings and tells. Where feeds are polled, `feeds` asks the service for which of them."""

    def __init__(self, curator: SourceManager, curated: RemoteSourceStore, now: Now, *, feeds: bool) -> None:
        self._curator, self._curated, self._now, self._feeds = curator, curated, now, feeds
        self._odd = 0

    async def bring(self) -> int:
        """Take over what the service has; how many sources changed."""
        asked_at = await self._now()
        every = await listing(self._curator.page)
        active = await listing(self._active) if self._feeds else None
        sources = every.sources | (active.sources if active else {})
        changed = await self._curated.take(self._made_out(sources, active), asked_at)
        if every.whole:
            await self._withdraw(sources)
        if changed:
            log.info("sources changed at the service that keeps them", extra={"changed": changed, "all": len(sources)})
        return changed

    async def tell(self) -> int:
        """Let the service know what it was not told yet; how many sources that was about."""
        rows = await self._curated.claim(AT_ONCE, HOLD_MS)
        # Those that the service cannot take today must not always be before those that it can.
        random.shuffle(rows)
        told, failures = list[SourceRow](), list[Unavailable]()
        for row in rows:
            try:
                await self._tell(row)
            except Unavailable as error:
                failures.append(error)
                if len(failures) >= MOST_FAILURES:
                    break
            else:
                told.append(row)
                await self._curated.told(row)
        if failures:
            await self._curated.release([row for row in rows if row not in told])
            raise failures[0]
        return len(told)

    async def _active(self, number: int) -> ListedSource:
        return await self._curator.page(number, feed_active=True)

    def _made_out(self, sources: Mapping[str, Described], active: SourceListing | None) -> list[RemoteSource]:
        found = [made_out(said, _listed(ref, active)) for ref, said in sources.items()]
        made = [source for source in found if source is not None]
        odd = len(found) - len(made)
        if odd > self._odd:  # said once, not with every list
            log.warning("the source service lists what is no source", extra={"count": odd})
        self._odd = odd
        return made

    async def _withdraw(self, sources: Mapping[str, Described]) -> None:
        """Let go of what is not on the list: if it is not there by its name either, for the list may have moved."""
        missing = [ref for ref in await self._curated.present() if ref not in sources]
        gone = [ref for ref in missing if await self._curator.get(ref) is None]
        if gone:
            await self._curated.withdraw(gone)
            log.info("sources are gone from the service that keeps them", extra={"count": len(gone)})

    async def _tell(self, row: SourceRow) -> None:
        try:
            await self._send(row)
        except Conflict as error:
            log.warning("the source service does not want to know", extra={"source": row.ref, "error": str(error)})

    async def _send(self, row: SourceRow) -> None:
        ref, rests_since = row.ref or "", row.feed_disabled_at
        if row.feed_url and row.feed_url != row.told_feed_url:
            await self._tell_where(ref, row.feed_url)
        if rests_since == row.told_feed_disabled_at:
            return
        if rests_since is None:
            await self._curator.enable_feed(ref)
        else:
            await self._curator.disable_feed(ref, row.feed_disable_reason or "unexpected")

    async def _tell_where(self, ref: str, feed_url: str) -> None:
        """The service wants sources whole; one that names a feed by now knows better than we do."""
        said = await self._curator.get(ref)
        if said is not None and not said.get("feed_url"):
            await self._curator.put(ref, said | {"feed_url": feed_url})


def _listed(ref: str, active: SourceListing | None) -> bool | None:
    """Whether a feed is to be polled; None where nobody asked, or the answer has gaps."""
    if active is None:
        return None
    return True if ref in active.sources else False if active.whole else None
