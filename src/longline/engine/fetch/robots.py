"""Rules of sites: the robots.txt of each origin, fetched once and cached for a while."""

import asyncio
import logging
import random
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from longline.engine.fetch.request_sender import RequestContext, Sender
from longline.engine.fetch.retry_after import TOO_MANY_REQUESTS, pause_host
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.model.bounded_dict import BoundedDict
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.fetch.redirects import REDIRECTS
from longline.model.fetch.robots import (
    CACHE_SECONDS,
    FAILURE_CACHE_SECONDS,
    LENIENT_CACHE_SECONDS,
    MAX_BYTES,
    MAX_CRAWL_DELAY_SECONDS,
    MAX_DECODED_BYTES,
    MAX_REDIRECTS,
    Robots,
)
from longline.model.frontier import reasons
from longline.model.urls.url import parse
from longline.model.urls.url import target as path_of
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Response

log = logging.getLogger(__name__)


class RobotsCache:
    """A cache of sites' rules and of failures to fetch them, so that robots.txt is not fetched every time."""

    def __init__(self, origins: int = 10_000) -> None:
        self._known: BoundedDict[str, tuple[float, Robots | FetchFailed]] = BoundedDict(origins)

    def get(self, origin: str, now: float, *, lenient: bool = False) -> Robots | FetchFailed | None:
        """Return the rules of a site or the failure to fetch them; None when neither is cached or the entry expired."""
        at, robots = self._known.get(origin, (float("-inf"), None))
        believed = CACHE_SECONDS if isinstance(robots, Robots) else FAILURE_CACHE_SECONDS
        return robots if now < at + (LENIENT_CACHE_SECONDS if lenient else believed) else None

    def put(self, origin: str, robots: Robots | FetchFailed, now: float) -> None:
        """Cache the rules of a site and evict the site that was cached longest ago."""
        self._known[origin] = (now, robots)

    def forget(self, site: str) -> None:
        """Drop the rules of a site, a host name without `www.`, under every scheme and port."""
        for origin in [origin for origin in self._known if _site(origin) == site]:
            del self._known[origin]


class RobotsRules:
    """The robots.txt rules of sites, for the hosts that one worker holds."""

    def __init__(
        self,
        sender: Sender,
        clock: Clock,
        chance: Callable[[], float] = random.random,
        known: RobotsCache | None = None,
    ) -> None:
        self._sender, self._clock, self._chance = sender, clock, chance
        self._known = RobotsCache() if known is None else known
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def of(self, host: LeasedHost, url: str, context: RequestContext) -> Robots:
        """Return the rules for a URL; a longer Crawl-delay applies to the host from now on.

        Raise `FetchFailed`, with which the page fails, when the rules cannot be fetched and the plan is not lenient.
        """
        origin, lenient = url[: -len(path_of(url))], context.plan.politeness.lenient_robots
        robots = self._known.get(origin, self._clock.monotonic(), lenient=lenient)
        if robots is None:
            robots = await self._request_once(host, origin, context)
        if isinstance(robots, FetchFailed):
            if lenient:
                return Robots.open()
            raise FetchFailed(robots.kind, str(robots), retry_after=robots.retry_after)
        crawl_delay = robots.crawl_delay(self._sender.agent(context.plan))
        if crawl_delay is not None:
            host.slow_down(min(crawl_delay, MAX_CRAWL_DELAY_SECONDS), self._clock.monotonic())
        return robots

    async def allow(self, host: LeasedHost, url: str, context: RequestContext) -> bool:
        """Return True when the rules allow to fetch a URL."""
        return (await self.of(host, url, context)).allows(self._sender.agent(context.plan), url)

    async def _request_once(self, host: LeasedHost, origin: str, context: RequestContext) -> Robots | FetchFailed:
        async with self._locks.setdefault(origin, asyncio.Lock()):
            robots = self._known.get(origin, self._clock.monotonic(), lenient=context.plan.politeness.lenient_robots)
            if robots is None:
                try:
                    robots = await self._request_robots(host, origin, context)
                except FetchFailed as failed:
                    robots = FetchFailed(failed.kind, f"robots.txt: {failed}", retry_after=failed.retry_after)
                self._known.put(origin, robots, self._clock.monotonic())
                self._log_verdict(origin, robots, context)
        return robots

    def _log_verdict(self, origin: str, robots: Robots | FetchFailed, context: RequestContext) -> None:
        crawl_delay = None if isinstance(robots, FetchFailed) else robots.crawl_delay(self._sender.agent(context.plan))
        if crawl_delay is not None and crawl_delay > MAX_CRAWL_DELAY_SECONDS:
            log.warning(
                "Crawl-delay capped", extra={"site": origin, "asked": crawl_delay, "kept": MAX_CRAWL_DELAY_SECONDS}
            )

    async def _request_robots(self, host: LeasedHost, origin: str, context: RequestContext) -> Robots:
        target = f"{origin}/robots.txt"
        # One byte more than is parsed, so that a cut last line is detected; other tasks wait for the same rules.
        context = msgspec.structs.replace(context, cut_at=MAX_BYTES + 1, found_on=None, mark=None)
        for _ in range(MAX_REDIRECTS + 1):
            if target.startswith(f"{origin}/"):
                response = (await self._sender.send(host, target, context)).response
            else:
                # Rules may redirect, as from example.com to www.example.com; one small file is no burden for that host.
                response = await self._sender.send_unheld(target, context)
            if response.status not in REDIRECTS:
                return self._read_response(host, response)
            try:
                target = response.leads_to(target)
            except FetchFailed:
                break  # a redirect without a valid target counts as no rules
        return Robots.open()

    def _read_response(self, host: LeasedHost, response: Response) -> Robots:
        """Return the rules in a response; raise `FetchFailed` for 429, 5xx and odd statuses."""
        if response.status == TOO_MANY_REQUESTS or response.status >= 500:
            # The site forbids everything while the error lasts: its pages wait, they are not given up.
            after = pause_host(host, response, self._clock, self._chance())
            raise FetchFailed(
                "http_429" if response.status == TOO_MANY_REQUESTS else "http_5xx",
                f"HTTP {response.status}",
                retry_after=after,
            )
        try:
            body = decode_body(response.headers, response.body, MAX_DECODED_BYTES)
        except Undecodable:
            body = response.body
        if reasons.for_status(response.status) == "odd_status":
            raise FetchFailed("odd_status", f"HTTP {response.status}")  # a part of the rules would allow too much
        return Robots.from_response(response.status, body)


def _site(origin: str) -> str:
    return parse(f"{origin}/").hostname.removeprefix("www.")
