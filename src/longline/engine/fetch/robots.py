"""What sites allow: robots.txt of each origin, asked for once, believed for a while."""

import asyncio
import logging
import random
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from longline.engine.fetch.retry_after import TOO_MANY, back_off
from longline.engine.fetch.sender import RequestContext, Sender
from longline.engine.frontier.held_hosts import HeldHost
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.fetch.robots import MAX_BYTES, Robots
from longline.model.frontier import outcomes as fate
from longline.model.url import target as path_of
from longline.ports.clock import Clock
from longline.ports.http import REDIRECTS, FetchFailed, Response

log = logging.getLogger(__name__)

MAX_HOPS = 5
MAX_CRAWL_DELAY = 60.0
"""A longer Crawl-delay is cut to this: a site may ask for patience, not for ever."""

MAX_DECODED = 20 * MAX_BYTES
"""How far compressed rules may swell, whatever a page may: none that can be read may be missed."""

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 1.0
LENIENT_SECONDS = 86_400.0
"""How long rules are believed, and how long it is believed that they cannot be had.

The second is no longer than the shortest wait before another attempt: every attempt asks anew, once for all its tasks.
Who is lenient does not wait for rules, and believes either for a day.
"""


class RobotsCache:
    """What was learnt of sites' rules lately, failures to learn them included, so that nobody is asked every time."""

    def __init__(self, origins: int = 10_000) -> None:
        self._origins = origins
        self._known: OrderedDict[str, tuple[float, Robots | FetchFailed]] = OrderedDict()

    def get(self, origin: str, now: float, *, lenient: bool = False) -> Robots | FetchFailed | None:
        """The rules of a site, or why they could not be had; None when that is unknown or too long ago."""
        at, robots = self._known.get(origin, (float("-inf"), None))
        believed = KNOWN_SECONDS if isinstance(robots, Robots) else UNKNOWN_SECONDS
        return robots if now < at + (LENIENT_SECONDS if lenient else believed) else None

    def put(self, origin: str, robots: Robots | FetchFailed, now: float) -> None:
        """Remember the rules of a site and forget those of the longest unseen."""
        self._known[origin] = (now, robots)
        self._known.move_to_end(origin)
        if len(self._known) > self._origins:
            self._known.popitem(last=False)


class RobotsRules:
    """The rules of the sites whose hosts are in one worker's hand."""

    def __init__(self, sender: Sender, clock: Clock, chance: Callable[[], float] = random.random) -> None:
        self._sender, self._clock, self._chance = sender, clock, chance
        self._known = RobotsCache()
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def of(self, host: HeldHost, url: str, errand: RequestContext) -> Robots:
        """The rules that a URL is under; a longer delay that they ask for is kept from now on.

        Raises `FetchFailed` when they cannot be had, unless the plan is lenient: that is what the page fails by.
        """
        origin, lenient = url[: -len(path_of(url))], errand.plan.lenient
        robots = self._known.get(origin, self._clock.monotonic(), lenient=lenient)
        if robots is None:
            robots = await self._ask_once(host, origin, errand)
        if isinstance(robots, FetchFailed):
            if lenient:
                return Robots.open()
            raise FetchFailed(robots.kind, str(robots), retry_after=robots.retry_after)
        asked = robots.crawl_delay(self._sender.agent(errand.plan))
        if asked is not None:
            host.slow_down(min(asked, MAX_CRAWL_DELAY), self._clock.monotonic())
        return robots

    async def allow(self, host: HeldHost, url: str, errand: RequestContext) -> bool:
        """Whether a URL may be fetched."""
        return (await self.of(host, url, errand)).allows(self._sender.agent(errand.plan), url)

    async def _ask_once(self, host: HeldHost, origin: str, errand: RequestContext) -> Robots | FetchFailed:
        async with self._asking.setdefault(origin, asyncio.Lock()):
            robots = self._known.get(origin, self._clock.monotonic(), lenient=errand.plan.lenient)
            if robots is None:
                try:
                    robots = await self._ask(host, origin, errand)
                except FetchFailed as failed:
                    robots = FetchFailed(failed.kind, f"robots.txt: {failed}", retry_after=failed.retry_after)
                self._known.put(origin, robots, self._clock.monotonic())
                self._tell(origin, robots, errand)
        return robots

    def _tell(self, origin: str, robots: Robots | FetchFailed, errand: RequestContext) -> None:
        asked = None if isinstance(robots, FetchFailed) else robots.crawl_delay(self._sender.agent(errand.plan))
        if asked is not None and asked > MAX_CRAWL_DELAY:
            log.warning("a Crawl-delay is cut", extra={"site": origin, "asked": asked, "kept": MAX_CRAWL_DELAY})

    async def _ask(self, host: HeldHost, origin: str, errand: RequestContext) -> Robots:
        target = f"{origin}/robots.txt"
        # One byte more than is read of it, so that the last line is known to be cut.
        errand = msgspec.structs.replace(errand, cut_at=MAX_BYTES + 1, found_on=None)
        for _ in range(MAX_HOPS + 1):
            if target.startswith(f"{origin}/"):
                response = (await self._sender.send(host, target, errand)).response
            else:
                # Rules may lie elsewhere, as from example.com to www.example.com; one small file is no burden there.
                response = await self._sender.aside(target, errand)
            if response.status not in REDIRECTS:
                return self._read(host, response)
            try:
                target = response.leads_to(target)
            except FetchFailed:
                break  # rules that lead nowhere are none
        return Robots.open()

    def _read(self, host: HeldHost, response: Response) -> Robots:
        """Return the rules in an answer; raise `FetchFailed` for an answer that says nothing about rules."""
        if response.status == TOO_MANY or response.status >= 500:
            # The site forbids everything for as long as this lasts: its pages wait, they are not given up.
            after = back_off(host, response, self._clock, self._chance())
            raise FetchFailed(
                "http_429" if response.status == TOO_MANY else "http_5xx", f"HTTP {response.status}", retry_after=after
            )
        try:
            body = decode_body(response.headers, response.body, MAX_DECODED)
        except Undecodable:
            body = response.body
        if fate.for_status(response.status) == "odd_status":
            raise FetchFailed("odd_status", f"HTTP {response.status}")  # a part of the rules would allow too much
        return Robots.from_response(response.status, body)
