"""The robots.txt of a source: fetched on a person's order, stored with the source, and announced to all workers."""

import logging
import math
from typing import Any

import msgspec

from longline.engine.fetch.robots_file import RobotsFile, RobotsFiles
from longline.engine.sources.crawl_plan import as_crawled, pause_ms
from longline.model.errors import BadInput, LonglineError, Unavailable
from longline.model.fetch.robots import MAX_CRAWL_DELAY_SECONDS, MAX_STORED_CHARS
from longline.model.proxies.proxy import NoProxies
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Proxying
from longline.model.signal_topics import ROBOTS_TOPIC
from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import SourceRow
from longline.model.sources.source_uses import SourceUse
from longline.model.storable_text import storable
from longline.model.urls.url import parse
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed
from longline.ports.signals import Signals
from longline.services.sources.sources import Sources

_log = logging.getLogger(__name__)


class RobotsNotFetched(LonglineError):
    """The robots.txt of a source could not be fetched; the stored one stays."""


class RobotsRefresh(msgspec.Struct, frozen=True):
    """The outcome of a refresh: the source as it is now, the status of the response, and the Crawl-delay found.

    `is_delay_taken` is whether the delay of the source was changed to the Crawl-delay.
    """

    source: SourceRow
    status: int
    crawl_delay_seconds: float | None
    is_delay_taken: bool


class SourceRobots:
    """The rules of sources. `delay_ms` and `user_agent` are those of sources without their own."""

    def __init__(
        self,
        sources: Sources,
        files: RobotsFiles,
        signals: Signals,
        clock: Clock,
        *,
        delay_ms: int,
        user_agent: str,
    ) -> None:
        self._sources, self._files, self._signals, self._clock = sources, files, signals, clock
        self._delay_ms, self._user_agent = delay_ms, user_agent

    async def refresh(self, source_id: int, *, force: bool = False) -> RobotsRefresh:
        """Fetch the robots.txt of a source, store it, and let all workers forget the rules that they know.

        A longer Crawl-delay becomes the delay of the source; with `force` a shorter one, too. Raise `NotFound` for an
        unknown source, `BadInput` for an address that may not be fetched, `NoProxies` for a source whose proxies are
        all unusable, `RobotsNotFetched` for a failed request.
        """
        row = await self._sources.get(source_id)
        url = row.robots_url or f"{_origin(row.base_url)}/robots.txt"
        found = await self._fetch(url, row)
        asked = found.robots.crawl_delay(row.user_agent or self._user_agent)
        facts: dict[str, Any] = {
            "robots_url": url,
            "robots_text": storable(found.text[:MAX_STORED_CHARS]),
            "robots_fetched_at": self._clock.now(),
        }
        is_delay_taken = False

        def amend(was: SourceRow) -> SourceRow:
            nonlocal is_delay_taken
            delay_ms = self._delay(was, asked, force=force)
            is_delay_taken = delay_ms != was.delay_ms
            return msgspec.structs.replace(was, delay_ms=delay_ms, **facts)

        changed = await self._sources.change(source_id, amend)
        await self._tell_workers(changed)
        return RobotsRefresh(changed, found.status, asked, is_delay_taken)

    async def _fetch(self, url: str, row: SourceRow) -> RobotsFile:
        agents = (row.user_agent,) if row.user_agent else ()
        pools = msgspec.json.decode(row.proxy_pools, type=list[str])
        settings = recrawl_settings(row.recrawl)
        wish = {"country": settings.country, "strategy": settings.strategy, "direct": settings.direct}
        is_shared = row.has_use(SourceUse.PRODUCTS)
        proxying = msgspec.structs.replace(Proxying.by_pools(pools), shared=is_shared, **wish)
        fetch = FetchOptions(user_agents=agents, cookies=False, proxying=proxying)
        try:
            return await self._files.fetch(url, CrawlPlan((), fetch=fetch, source_id=row.id))
        except FetchFailed as failed:
            if failed.kind == "egress":
                raise BadInput("the robots.txt of the source is at an address that may not be fetched") from None
            if failed.kind == "proxy_exhausted":
                raise NoProxies(str(failed)) from None
            raise RobotsNotFetched(f"robots.txt of {row.name} was not fetched: {failed}") from None

    def _delay(self, row: SourceRow, asked: float | None, *, force: bool) -> int | None:
        """Return the delay of a source after a refresh; that of a domain is whole seconds, rounded up."""
        if asked is None:
            return row.delay_ms
        seconds = min(asked, MAX_CRAWL_DELAY_SECONDS)
        if row.has_use(SourceUse.PRODUCTS):
            seconds = math.ceil(seconds)
        asked_ms, present = round(seconds * 1000), pause_ms(as_crawled(row))
        longer = asked_ms > (self._delay_ms if present is None else present)
        return asked_ms if force or longer else row.delay_ms

    async def _tell_workers(self, row: SourceRow) -> None:
        try:
            await self._signals.send(ROBOTS_TOPIC, parse(row.base_url).hostname.removeprefix("www."))
        except Unavailable as error:
            # Workers fetch rules again after an hour.
            _log.warning("signal not sent", extra={"topic": ROBOTS_TOPIC, "error": str(error)})


def _origin(url: str) -> str:
    place = parse(url)
    return f"{place.scheme}://{place.host}"
