"""Fetch: robots first, then the page, each request at its host's turn; redirects are our decision, hop by hop."""

import random
from collections import OrderedDict
from collections.abc import Callable
from email.utils import parsedate_to_datetime

import msgspec

from longline.engine.frontier import HeldHost
from longline.model import fate
from longline.model.encoding import ACCEPT_ENCODING, Undecodable, decode_body
from longline.model.errors import BadInput
from longline.model.plan import CrawlPlan
from longline.model.robots import Robots
from longline.model.url import parse
from longline.model.url import target as path_of
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Request, Response

MAX_HOPS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
THROTTLED = frozenset({429, 503})
"""Answers that ask for patience, also when they do not say how much."""

MAX_CRAWL_DELAY = 60.0
MAX_RETRY_AFTER = 3600.0
"""A longer Crawl-delay or Retry-After is cut to this: a site may ask for patience, not for ever."""

ROBOTS_SECONDS = 3600.0
NO_ROBOTS_SECONDS = 1.0
"""How long rules are believed, and how long it is believed that they cannot be had.

The second is no longer than the shortest wait before another attempt: every attempt asks anew, once for all its tasks.
"""


class FetchSettings(msgspec.Struct, frozen=True):
    """How requests are sent."""

    user_agent: str
    connect_seconds: float = 10.0
    total_seconds: float = 30.0
    max_bytes: int = 10 * 1024 * 1024


class Fetched(msgspec.Struct, frozen=True):
    """What came of one task's fetch: a page, or the reason why there is none.

    `elsewhere` is where a redirect led to; that URL is admitted like any other, under its own host's politeness.
    """

    reason: str
    at: int
    response: Response | None = None
    body: bytes = b""
    status: int | None = None
    error: str | None = None
    elsewhere: str | None = None
    retry_after: float | None = None


class RobotsCache:
    """What was learnt of hosts' rules lately, failures to learn them included, so that nobody is asked every time."""

    def __init__(self, hosts: int = 10_000) -> None:
        self._hosts = hosts
        self._known: OrderedDict[str, tuple[float, Robots | FetchFailed]] = OrderedDict()

    def get(self, host: str, now: float) -> Robots | FetchFailed | None:
        """The rules of a host, or why they could not be had; None when that is unknown or too long ago."""
        until, robots = self._known.get(host, (float("-inf"), None))
        return robots if now < until else None

    def put(self, host: str, robots: Robots | FetchFailed, now: float) -> None:
        """Remember the rules of a host and forget those of the longest unseen."""
        self._known[host] = (now + (ROBOTS_SECONDS if isinstance(robots, Robots) else NO_ROBOTS_SECONDS), robots)
        self._known.move_to_end(host)
        if len(self._known) > self._hosts:
            self._known.popitem(last=False)


class LeaseLost(Exception):
    """The host is no longer ours; nothing may be sent and nothing reported."""


class Fetcher:
    """Fetches for the hosts in one worker's hand."""

    def __init__(
        self, http: Http, clock: Clock, settings: FetchSettings, chance: Callable[[], float] = random.random
    ) -> None:
        self._http, self._clock, self._settings, self._chance = http, clock, settings, chance
        self._robots_known = RobotsCache()

    async def fetch(self, host: HeldHost, url: str, plan: CrawlPlan) -> Fetched:
        """One page, as its server gave it; every outcome has a word of `model/fate.py`."""
        try:
            if plan.robots and not await self._allowed(host, url):
                return Fetched("robots", self._clock.now())
            return await self._follow(host, url, plan)
        except (FetchFailed, Undecodable) as failed:
            return Fetched(failed.kind, self._clock.now(), error=str(failed))

    async def _follow(self, host: HeldHost, url: str, plan: CrawlPlan) -> Fetched:
        seen: set[str] = set()
        for _ in range(MAX_HOPS + 1):
            at, response = await self._send(host, url)
            if response.status not in REDIRECTS or response.header("location") is None:
                # The page belongs to the URL it has now, which may be known already: let that be a task of its own.
                moved = bool(seen) and response.status < 400
                return self._judge(host, at, response) if not moved else Fetched("redirected", at, elsewhere=url)
            seen.add(url)
            try:
                target = response.leads_to(url)
            except FetchFailed as failed:
                return Fetched(failed.kind, at, status=response.status, error=str(failed))
            if target in seen:
                return Fetched("redirect_loop", at, status=response.status, error=f"redirected back to {target}")
            if _host_of(target) != host.lease.host:
                return Fetched("redirected", at, status=response.status, elsewhere=target)
            if plan.robots and not await self._allowed(host, target):
                return Fetched("robots", at, status=response.status, error=f"redirected to {target}")
            url = target
        return Fetched("too_many_redirects", at, status=response.status, error=f"more than {MAX_HOPS} redirects")

    async def _send(self, host: HeldHost, url: str) -> tuple[int, Response]:
        start = await host.turn(self._clock)
        if start is None:
            raise LeaseLost
        at = self._clock.now()
        try:
            return at, await self._http.fetch(self._request(url))
        finally:
            host.answered(start, self._clock.monotonic())

    def _request(self, url: str) -> Request:
        s = self._settings
        headers = (("user-agent", s.user_agent), ("accept", "*/*"), ("accept-encoding", ACCEPT_ENCODING))
        return Request(
            url,
            headers,
            connect_seconds=s.connect_seconds,
            idle_seconds=s.total_seconds,
            total_seconds=s.total_seconds,
            max_bytes=s.max_bytes,
        )

    def _judge(self, host: HeldHost, at: int, response: Response) -> Fetched:
        reason = fate.for_status(response.status)
        if reason:
            after = _seconds(response.header("retry-after"), self._clock.now())
            if after is None and response.status in THROTTLED:
                after = host.throttled(self._chance())
            if after is not None:
                host.back_off(after, self._clock.monotonic())
            return Fetched(reason, at, status=response.status, error=f"HTTP {response.status}", retry_after=after)
        host.eased()
        body = decode_body(response.headers, response.body, self._settings.max_bytes)
        return Fetched(fate.OK, at, response, body, response.status)

    async def _allowed(self, host: HeldHost, url: str) -> bool:
        """Whether the rules allow this URL; when they cannot be had, that is what the page fails by."""
        async with host.asking_robots:
            robots = self._robots_known.get(host.lease.host, self._clock.monotonic())
            if robots is None:
                try:
                    robots = await self._robots(host, url)
                except FetchFailed as failed:
                    robots = FetchFailed(failed.kind, f"robots.txt: {failed}")
                self._robots_known.put(host.lease.host, robots, self._clock.monotonic())
        if isinstance(robots, FetchFailed):
            raise FetchFailed(robots.kind, str(robots))
        asked = robots.crawl_delay(self._settings.user_agent)
        if asked is not None:
            host.slow_down(min(asked, MAX_CRAWL_DELAY))
        return robots.allows(self._settings.user_agent, url)

    async def _robots(self, host: HeldHost, url: str) -> Robots:
        target = f"{url[: -len(path_of(url))]}/robots.txt"
        for _ in range(MAX_HOPS + 1):
            if _host_of(target) == host.lease.host:
                _, response = await self._send(host, target)
            else:
                # Rules may lie elsewhere, as from example.com to www.example.com; one small file is no burden there.
                response = await self._http.fetch(self._request(target))
            if response.status not in REDIRECTS:
                return self._read_robots(response)
            try:
                target = response.leads_to(target)
            except FetchFailed:
                break  # rules that lead nowhere are none
        return Robots.open()

    def _read_robots(self, response: Response) -> Robots:
        try:
            body = decode_body(response.headers, response.body, self._settings.max_bytes)
        except Undecodable:
            body = response.body
        if response.status >= 500:
            # The site forbids everything for as long as this lasts: its pages wait, they are not given up.
            raise FetchFailed("http_5xx", f"HTTP {response.status}")
        return Robots.from_response(response.status, body)


def _host_of(url: str) -> str | None:
    try:
        return parse(url).host
    except BadInput:
        return None


def _seconds(value: str | None, now: int) -> float | None:
    """How long a Retry-After asks to wait, in either of its forms; None for what is neither."""
    text = (value or "").strip()
    if text.isdecimal():
        return min(float(text), MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, moment - now / 1000), MAX_RETRY_AFTER)
