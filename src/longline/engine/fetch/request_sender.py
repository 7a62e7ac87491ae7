"""Sending of single requests: at the host's turn, through a proxy, with headers and cookies of the run."""

import random
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import TypeVar

import msgspec

from longline.engine.fetch.run_credentials import RunCredentials
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.fetch.content_encoding import ACCEPT_ENCODING
from longline.model.fetch.cookies import RunCookies
from longline.model.fetch.credentials import Headers, masked, origins, without_cookie_values
from longline.model.fetch.referer import referer
from longline.model.frontier.task import RequestMade
from longline.model.proxies.proxy_health import blames_proxy, proxy_works
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.url import parse
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Method, Request, Response, StreamedResponse, StreamingHttp
from longline.ports.records.proxies import PickedProxy

FORBIDDEN = 403

T = TypeVar("T")
SendOnce = Callable[[Request, PickedProxy | None, float], Awaitable[T]]
"""A function that sends a request by a proxy, at the start of its turn."""


class FetchSettings(msgspec.Struct, frozen=True):
    """Settings of requests."""

    user_agent: str
    connect_seconds: float = 10.0
    idle_seconds: float = 15.0
    total_seconds: float = 30.0
    max_bytes: int = 10 * 1024 * 1024
    referer: bool = True
    renders: bool = False


class LeaseLost(Exception):
    """The loss of a host's lease: no request may be sent and no task reported."""


class TimedResponse(msgspec.Struct, frozen=True):
    """A response, the time of its request, the headers of the request with secret values masked, and its cookies."""

    at: int
    response: Response
    headers: Headers = ()
    cookies: str | None = None


class StreamLimits(msgspec.Struct, frozen=True):
    """Deadlines of a request whose body is read as a stream, and the judgement of 403 by a proxy."""

    connect_seconds: float
    idle_seconds: float
    total_seconds: float
    forbidden_blames_proxy: bool = False


class TimedStream(msgspec.Struct, frozen=True):
    """A response with an unread body, the time of its request, and its proxy."""

    at: int
    stream: StreamedResponse
    proxy: PickedProxy | None = None


class RequestContext(msgspec.Struct, frozen=True):
    """The run and plan of a request, and headers of this request alone.

    `found_on` is the page that links to the URL. With `cut_at` a larger body is cut there; without, a body larger than
    `max_body_bytes`, by default the limit for pages, is a failure. With `render` the page is rendered by a browser. A
    `jar` replaces the cookies of the run. `mark` is that of the task whose page is fetched. The headers `own` go to
    the origin of `own_url` alone. `asked` collects the requests made for the page, `exchanges` their responses, and
    `proxies` their proxies, None for a request without one.
    """

    run_id: int
    plan: CrawlPlan
    headers: Headers = ()
    cut_at: int | None = None
    max_body_bytes: int | None = None
    found_on: str | None = None
    render: bool = False
    method: Method = "GET"
    body: bytes = b""
    jar: RunCookies | None = None
    mark: tuple[int, int] | None = None
    asked: list[RequestMade] = []
    exchanges: list[TimedResponse] = []
    own: Headers = ()
    own_url: str = ""
    proxies: list[int | None] = []
    accept_encoding: str = ACCEPT_ENCODING


class Sender:
    """A sender of requests for the hosts that one worker holds."""

    def __init__(
        self,
        http: Http,
        clock: Clock,
        settings: FetchSettings,
        proxies: ProxyRotation,
        chance: Callable[[], float] = random.random,
        credentials: RunCredentials | None = None,
        streams: StreamingHttp | None = None,
    ) -> None:
        self._http, self._clock, self._settings, self._proxies, self._chance = http, clock, settings, proxies, chance
        self._credentials = credentials or RunCredentials()
        self._number, self._streams = count(), streams

    def agent(self, plan: CrawlPlan) -> str:
        """Return the user agent for which robots.txt is read."""
        return plan.fetch.user_agents[0] if plan.fetch.user_agents else self._settings.user_agent

    def own_headers(self, locked: str) -> Headers:
        """Return the headers of a single task, which its row keeps locked."""
        return self._credentials.unlocked(locked).headers

    def renders(self, plan: CrawlPlan) -> bool:
        """Return True when the plan requests rendering and a renderer is configured."""
        return plan.fetch.render and self._settings.renders

    def cookies(self, url: str, context: RequestContext) -> str | None:
        """Return the value of the Cookie header for a request to a URL, if there is one."""
        own = (*context.plan.fetch.headers, *self._credentials.headers(context.run_id, context.plan, url))
        configured = next((value for name, value in own if name.lower() == "cookie"), None)
        return configured if configured is not None else self._stored_cookies(url, context)

    async def send(self, host: LeasedHost, url: str, context: RequestContext) -> TimedResponse:
        """Send a request to a held host; a failed proxy is replaced by the next, each time at the host's turn."""
        return await self._send_by_proxies(host, url, context)

    async def send_unheld(self, url: str, context: RequestContext) -> Response:
        """Send one small request to a host that is not held."""
        return (await self._send_by_proxies(None, url, context)).response

    async def open(self, host: LeasedHost, url: str, context: RequestContext, limits: StreamLimits) -> TimedStream:
        """Send a request to a held host, and return the response with its unread body.

        A failed proxy is replaced by the next, each time at the host's turn.
        """
        if self._streams is None:
            raise FetchFailed("network", "the client has no streams")
        request = msgspec.structs.replace(
            self._request(url, context),
            connect_seconds=limits.connect_seconds,
            idle_seconds=limits.idle_seconds,
            total_seconds=limits.total_seconds,
        )
        opening = partial(self._open_once, self._streams, host, limits)
        return await self._by_proxies(host, request, context, opening)

    async def _open_once(
        self,
        streams: StreamingHttp,
        host: LeasedHost,
        limits: StreamLimits,
        request: Request,
        picked: PickedProxy | None,
        start: float,
    ) -> TimedStream:
        at, resent_ms = self._clock.now(), None
        proxied = request if picked is None else msgspec.structs.replace(request, proxy=picked.proxy)
        try:
            stream = await streams.open(proxied)
            resent_ms, status = stream.head.resent_ms, stream.head.status
        except FetchFailed as failure:
            resent_ms = failure.resent_ms
            self._note_failure(picked, failure, start)
            raise
        finally:
            host.answered(start, self._clock.monotonic(), (resent_ms or 0) / 1000)
        if picked is not None:
            forgiven = status == FORBIDDEN and not limits.forbidden_blames_proxy
            self._proxies.note(picked, self._elapsed_ms(start), ok=forgiven or not blames_proxy(None, status))
        return TimedStream(at, stream, picked)

    def note_break(self, picked: PickedProxy) -> None:
        """Note that a proxy broke off in the middle of a body."""
        self._proxies.note(picked, 0, ok=False)

    def _note_failure(self, picked: PickedProxy | None, failure: FetchFailed, start: float) -> None:
        ok = proxy_works(failure.kind, proxy_fault=failure.proxy_fault)
        if picked is not None and ok is not None:
            self._proxies.note(picked, self._elapsed_ms(start), ok=ok)

    async def _send_by_proxies(self, host: LeasedHost | None, url: str, context: RequestContext) -> TimedResponse:
        sent = await self._by_proxies(host, self._request(url, context), context, partial(self._send_once, host))
        self._store_cookies(context, url, sent.response)
        return self._without_secrets(sent, context)

    async def _by_proxies(
        self, host: LeasedHost | None, request: Request, context: RequestContext, send: SendOnce[T]
    ) -> T:
        """Send a request until a proxy does not fail, and return the result."""
        failed: frozenset[int] = frozenset()
        while True:
            picked = None if request.render else await self._proxies.next(context.plan, failed, _host(host))
            context.proxies.append((picked.proxy_id or None) if picked else None)
            try:
                start = await self._wait_for_turn(host, context)
                return await send(request, picked, start)
            except FetchFailed as failure:
                if picked is None or not failure.proxy_fault or not _may_send_again(context, failure):
                    raise
                failed |= {picked.proxy_id}
                if len(failed) >= max(context.plan.fetch.proxying.max_proxies, picked.pool_size):
                    message = f"{len(failed)} proxies failed, the last one so: {failure}"
                    raise FetchFailed("proxy_exhausted", message) from failure

    async def _wait_for_turn(self, host: LeasedHost | None, context: RequestContext) -> float:
        """Wait for the turn of a request, and return its start."""
        if host is None:
            return self._clock.monotonic()
        jitter = self._chance() * context.plan.politeness.jitter_ms / 1000
        start = await host.wait_for_turn(self._clock, jitter, context.mark)
        if start is None:
            raise LeaseLost
        return start

    async def _send_once(
        self, host: LeasedHost | None, request: Request, picked: PickedProxy | None, start: float
    ) -> TimedResponse:
        at, resent_ms = self._clock.now(), None
        try:
            response = await (self._http.fetch(request) if picked is None else self._send_through(picked, request))
            resent_ms = response.resent_ms
            return TimedResponse(at, response, request.headers, _cookie_header(request.headers))
        except FetchFailed as failure:
            resent_ms = failure.resent_ms
            raise
        finally:
            if host:
                host.answered(start, self._clock.monotonic(), (resent_ms or 0) / 1000)

    async def _send_through(self, picked: PickedProxy, request: Request) -> Response:
        start = self._clock.monotonic()
        try:
            response = await self._http.fetch(msgspec.structs.replace(request, proxy=picked.proxy))
        except FetchFailed as failure:
            self._note_failure(picked, failure, start)
            raise
        self._proxies.note(picked, self._elapsed_ms(start), ok=not blames_proxy(None, response.status))
        return response

    def _elapsed_ms(self, start: float) -> int:
        return round((self._clock.monotonic() - start) * 1000)

    def _request(self, url: str, context: RequestContext) -> Request:
        s = self._settings
        return Request(
            url,
            self._headers(url, context),
            connect_seconds=s.connect_seconds,
            idle_seconds=s.idle_seconds,
            total_seconds=s.total_seconds,
            max_bytes=context.cut_at or context.max_body_bytes or s.max_bytes,
            cut=context.cut_at is not None,
            render=context.render,
            method=context.method,
            body=context.body,
        )

    def _headers(self, url: str, context: RequestContext) -> Headers:
        """Return the default headers, overridden by headers of the plan; names are compared without case."""
        plan = context.plan
        usual = [("user-agent", self._next_agent(plan)), ("accept", "*/*")]
        usual.append(("accept-encoding", context.accept_encoding))
        if (cookies := self._stored_cookies(url, context)) is not None:
            usual.append(("cookie", cookies))
        if self._settings.referer and context.found_on and (page := referer(context.found_on, url)):
            usual.append(("referer", page))
        configured = (
            *plan.fetch.headers,
            *self._credentials.headers(context.run_id, plan, url),
            *_headers_of_task(url, context),
        )
        if not configured:
            return (*usual, *context.headers)
        own = {name.lower() for name, _ in configured}
        return (*(h for h in usual if h[0] not in own), *configured, *context.headers)

    def _stored_cookies(self, url: str, context: RequestContext) -> str | None:
        return self._cookie_jar(context).header(url) if context.plan.fetch.cookies else None

    def _cookie_jar(self, context: RequestContext) -> RunCookies:
        return context.jar if context.jar is not None else self._credentials.jar(context.run_id, context.plan)

    def _next_agent(self, plan: CrawlPlan) -> str:
        if not plan.fetch.user_agents:
            return self._settings.user_agent
        return plan.fetch.user_agents[next(self._number) % len(plan.fetch.user_agents)]

    def _store_cookies(self, context: RequestContext, url: str, response: Response) -> None:
        if not context.plan.fetch.cookies:
            return
        values = [value for name, value in response.headers if name.lower() == "set-cookie"]
        if values:
            self._cookie_jar(context).store(url, values)

    def _without_secrets(self, sent: TimedResponse, context: RequestContext) -> TimedResponse:
        """Return an exchange as it may be stored: without the values of a run's headers and cookies.

        The cookies of a response are masked only where the run has a login or given ones: a site may repeat them.
        """
        response = sent.response
        run_headers = self._credentials.headers(context.run_id, context.plan, response.url)
        headers = masked(sent.headers, frozenset(name.lower() for name, _ in (*run_headers, *context.own)))
        if self._credentials.has_secrets(context.run_id):
            response = msgspec.structs.replace(response, headers=without_cookie_values(response.headers))
        elif headers is sent.headers:
            return sent
        return msgspec.structs.replace(sent, headers=headers, response=response)


def _headers_of_task(url: str, context: RequestContext) -> Headers:
    """Return the headers of the task itself for a URL of the origin that they are meant for."""
    if not context.own:
        return ()
    target = parse(url, credentials=True)
    return context.own if f"{target.scheme}://{target.host}" in origins((parse(context.own_url),)) else ()


def _may_send_again(context: RequestContext, failure: FetchFailed) -> bool:
    """Return whether a request may go by another proxy: a POST only if the first proxy did not take it."""
    return context.method == "GET" or failure.kind in ("proxy_refused", "proxy_auth")


def _cookie_header(headers: Headers) -> str | None:
    for name, value in headers:
        if name.lower() == "cookie":
            return value
    return None


def _host(host: LeasedHost | None) -> str:
    return host.lease.host if host else ""
