"""Lookup of sources at a remote source manager; stored sources are used while it does not answer."""

import logging
from collections.abc import Awaitable, Callable

from longline.engine.circuit_breaker import CircuitBreaker
from longline.engine.sources.crawl_plan import described
from longline.engine.sources.remote_source_reader import listing, read_source
from longline.engine.sources.source_lookup import LocalSources
from longline.model.errors import Unavailable
from longline.model.sources.source import CrawlSource
from longline.ports.records.sources import RemoteSourceStore
from longline.ports.sources import Described, SourceManager

log = logging.getLogger(__name__)

STORED_SOURCES_USED = "source service unavailable, using stored sources"
RETRY_AFTER_SECONDS = 60.0
"""Seconds without requests for known sources to a source manager that is unavailable: callers would be blocked."""


class RemoteSources:
    """The sources of a remote source manager; each is stored here too, and used while the manager is unavailable."""

    def __init__(
        self, manager: SourceManager, remote: RemoteSourceStore, own: LocalSources, now: Callable[[], Awaitable[int]]
    ) -> None:
        self._manager, self._remote, self._own, self._now = manager, remote, own, now
        self._breaker, self._away = CircuitBreaker(failures=1, pause=RETRY_AFTER_SECONDS, successes=1), False

    async def get(self, ref: str) -> CrawlSource | None:
        asked_at = await self._now()
        known = await self._own.get(ref)
        if known is not None and not self._breaker.allows(asked_at / 1000):
            return known
        try:
            said = await self._manager.get(ref)
        except Unavailable as error:
            self._breaker.note(await self._now() / 1000, ok=False)
            if known is None:
                raise
            log.log(logging.DEBUG if self._away else logging.WARNING, STORED_SOURCES_USED, extra={"error": str(error)})
            self._away = True
            return known
        self._breaker.note(asked_at / 1000, ok=True)
        self._away = False
        return await self._taken(ref, said, asked_at) if said else await self._left(ref, known)

    async def _taken(self, ref: str, said: Described, asked_at: int) -> CrawlSource | None:
        source = read_source(said | {"id": ref})
        if source is None:
            return described(said)
        await self._remote.take([source], asked_at)
        return await self._own.get(ref)

    async def _left(self, ref: str, known: CrawlSource | None) -> CrawlSource | None:
        """Return a source that the source manager does not have: None, unless the source is our own."""
        return known if await self._remote.get(ref) is None else None

    async def ref_of(self, source_id: int) -> str:
        return await self._own.ref_of(source_id)

    async def all(self) -> list[CrawlSource]:
        return [described(said) for said in (await listing(self._manager.page)).sources.values()]
