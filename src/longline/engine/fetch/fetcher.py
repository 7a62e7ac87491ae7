"""Fetching of a task: robots.txt first, then the page, at its host's turn; redirects are followed hop by hop."""

import asyncio
import random
from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from longline.engine.fetch.challenge import is_challenge
from longline.engine.fetch.conditional_requests import conditional_headers
from longline.engine.fetch.login_sessions import Sessions
from longline.engine.fetch.redirect_following import RedirectRules, Visit
from longline.engine.fetch.request_sender import RequestContext, Sender, TimedResponse
from longline.engine.fetch.retry_after import TOO_MANY_REQUESTS, pause_host
from longline.engine.fetch.robots import RobotsRules
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.sources.crawl_plan import is_binary
from longline.model.bounded_dict import BoundedDict
from longline.model.feeds.sitemap import MAX_BYTES, may_be_sitemap
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.fetch.redirects import REDIRECT_STATUSES, REDIRECTS
from longline.model.frontier import reasons
from longline.model.frontier.host import MAX_DELAY_SECONDS, THROTTLED_DELAY_SECONDS
from longline.model.frontier.reasons import RESENT
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import ClaimedTask, KnownPage, RequestMade, TaskRedirect
from longline.model.runs.crawl_bounds import bounds_of
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.link_resolution import join_all
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import parse
from longline.model.urls.url import target as path_of
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Response
from longline.ports.records.frontier.frontier import TaskStore

PAGE = 200
NOT_MODIFIED = 304


MAX_REMEMBERED_WARNINGS = 10_000

MAX_INLINE_BYTES = 128 * 1024
"""Largest body decoded on the event loop, if decoding gives at most eight times as many bytes."""


class Fetched(msgspec.Struct, frozen=True):
    """The outcome of one task's fetch: a page, or the reason for having none.

    `elsewhere` is the target of a redirect to another host; that URL is admitted like any other, under its own host's
    politeness. A single task goes on there instead, at `redirected_to`. `moved_to` is the final URL of the page on the
    same host. `same_as` is the earlier page, when the server answers 304. `sitemaps` are the sitemaps in the site's
    robots.txt, once in a run. `asked` are the requests made, and `exchanges` the responses worth keeping: redirects,
    and the page. `proxy_id` is the proxy of the last request.
    """

    reason: str
    at: int
    response: Response | None = None
    body: bytes = b""
    status: int | None = None
    error: str | None = None
    elsewhere: str | None = None
    moved_to: str | None = None
    retry_after: float | None = None
    same_as: KnownPage | None = None
    sitemaps: tuple[str, ...] = ()
    asked: tuple[RequestMade, ...] = ()
    exchanges: tuple[TimedResponse, ...] = ()
    redirected_to: TaskRedirect | None = None
    proxy_id: int | None = None

    @property
    def redirects(self) -> tuple[TimedResponse, ...]:
        """Return the redirects among the responses."""
        return tuple(sent for sent in self.exchanges if sent.response is not self.response)


class ResponseObserver(Protocol):
    """An observer of every response as received."""

    def observe(self, plan: CrawlPlan, at: int, response: Response) -> None:
        """Observe the response to a request of the plan, sent at the time `at`."""


class FetchParts(NamedTuple):
    """The parts of a fetcher; `tasks` knows the URLs that a run already has."""

    sender: Sender
    rules: RobotsRules
    clock: Clock
    politeness: PolitenessKey
    tasks: TaskStore | None = None
    sessions: Sessions | None = None
    observer: ResponseObserver | None = None


class Fetcher:
    """A fetcher of pages for the hosts that one worker holds."""

    def __init__(self, parts: FetchParts, max_bytes: int, chance: Callable[[], float] = random.random) -> None:
        self._sender, self._rules, self._clock = parts.sender, parts.rules, parts.clock
        self._politeness, self._tasks, self._observer = parts.politeness, parts.tasks, parts.observer
        self._redirects = RedirectRules(parts.sender, parts.rules, parts.politeness)
        self._send_request = parts.sessions.send if parts.sessions is not None else parts.sender.send
        self._max_bytes, self._chance = max_bytes, chance
        self._named_sitemaps: BoundedDict[tuple[int, str], None] = BoundedDict(MAX_REMEMBERED_WARNINGS)

    async def fetch(self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan) -> Fetched:
        """Fetch one page; every outcome has a reason in `model/frontier/reasons.py`."""
        if plan.bounds.never and bounds_of(plan.bounds).forbids(task.url):
            return Fetched("binary_url", self._clock.now())
        context = RequestContext(
            task.run_id, plan, max_body_bytes=_max_body_bytes(task.url, plan, self._max_bytes), mark=task.mark
        )
        fetched = await self._fetch_by_rules(host, task, context)
        exchanges = tuple(
            sent for sent in context.exchanges if sent.response is fetched.response or sent.response.status in REDIRECTS
        )
        proxy_id = context.proxies[-1] if context.proxies else None
        return msgspec.structs.replace(fetched, asked=tuple(context.asked), exchanges=exchanges, proxy_id=proxy_id)

    async def _fetch_by_rules(self, host: LeasedHost, task: ClaimedTask, context: RequestContext) -> Fetched:
        plan = context.plan
        try:
            if plan.politeness.robots and not await self._rules.allow(host, task.url, context):
                return Fetched("robots", self._clock.now())
            rendered = self._sender.renders(plan) and not is_binary(task.url)
            fetched = await (self._render if rendered else self._follow)(host, task, context)
            named = await self._sitemaps(host, task, context) if plan.bounds.sitemaps else ()
            return msgspec.structs.replace(fetched, sitemaps=named) if named else fetched
        except FetchFailed as failed:
            context.asked.extend((*_resent(failed.resent_ms), RequestMade()))
            return Fetched(failed.kind, self._clock.now(), error=str(failed), retry_after=failed.retry_after)
        except Undecodable as failed:
            return Fetched(failed.kind, self._clock.now(), error=str(failed))

    async def _send(self, host: LeasedHost, url: str, context: RequestContext) -> TimedResponse:
        """Send a request for a page, and add the request and its response to the context."""
        sent = await self._send_request(host, url, context)
        response = sent.response
        context.asked.extend(_resent(response.resent_ms))
        context.asked.append(RequestMade(response.status, response.elapsed_ms, len(response.body)))
        context.exchanges.append(sent)
        return sent

    async def _sitemaps(self, host: LeasedHost, task: ClaimedTask, context: RequestContext) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of the page's site, once for each run and site."""
        run_and_site = (task.run_id, task.url[: -len(path_of(task.url))])
        if run_and_site in self._named_sitemaps:
            return ()
        self._named_sitemaps[run_and_site] = None
        return tuple(join_all(task.url, (await self._rules.of(host, task.url, context)).sitemaps))

    async def _follow(self, host: LeasedHost, task: ClaimedTask, context: RequestContext) -> Fetched:
        url, seen = task.url, list[Visit]()
        context = msgspec.structs.replace(context, found_on=task.found_on) if task.found_on else context
        base_context = self._with_own_headers(task, context)
        page_context = msgspec.structs.replace(base_context, headers=conditional_headers(task, context.plan))
        while True:
            sent = await self._send(host, url, page_context)
            status = sent.response.status
            if status not in REDIRECTS or sent.response.header("location") is None:
                fetched = await self._observe_and_judge(host, sent, task, page_context)
                return await self._after_redirects(task, url, fetched, single=context.plan.single)
            page_context = base_context  # the validators of the known page belong to the first URL alone
            seen.append((url, sent.cookies))
            try:
                url = sent.response.leads_to(url)
            except FetchFailed as failed:
                return Fetched(failed.kind, sent.at, status=status, error=str(failed))
            if refusal := await self._redirects.refusal(host, task, url, seen, context):
                return await self._unfollowed_redirect(sent, refusal, task.hops + len(seen), context.plan)

    def _with_own_headers(self, task: ClaimedTask, context: RequestContext) -> RequestContext:
        """Return the context with the headers of the task itself, which are for the origin of its own URL alone."""
        if task.credentials is None or task.home_id is not None:
            return context
        return msgspec.structs.replace(context, own=self._sender.own_headers(task.credentials), own_url=task.url)

    async def _unfollowed_redirect(
        self, sent: TimedResponse, refusal: tuple[str, str | None, str | None], hops: int, plan: CrawlPlan
    ) -> Fetched:
        """Return the outcome of a redirect that is not followed here; a single task moves to the host it leads to."""
        reason, error, elsewhere = refusal
        redirected_to = None
        if plan.single and elsewhere is not None:
            url = parse(elsewhere)
            if bounds_of(plan.bounds).refusal(url) is None:
                redirected_to = TaskRedirect(url.href, await self._politeness.key(url), hops)
        return Fetched(
            reason,
            sent.at,
            status=sent.response.status,
            error=error,
            elsewhere=elsewhere if redirected_to is None else None,
            redirected_to=redirected_to,
        )

    async def _render(self, host: LeasedHost, task: ClaimedTask, context: RequestContext) -> Fetched:
        """Fetch a page rendered by a browser, which follows redirects; the final URL is checked afterwards."""
        page_context = msgspec.structs.replace(self._with_own_headers(task, context), render=True)
        sent = await self._send(host, task.url, page_context)
        landed = sent.response.url
        if landed == task.url:
            return await self._observe_and_judge(host, sent, task, page_context)
        if refusal := await self._redirects.refusal(host, task, landed, [(task.url, None)], context):
            return await self._unfollowed_redirect(sent, refusal, task.hops + 1, context.plan)
        fetched = await self._observe_and_judge(host, sent, task, page_context)
        return await self._after_redirects(task, landed, fetched, single=context.plan.single)

    async def _after_redirects(self, task: ClaimedTask, url: str, fetched: Fetched, *, single: bool) -> Fetched:
        """Return the fetch at the end of redirects; a page that has a task of its own is left to that task.

        A `single` task keeps a page that another task has too.

        Checked at the end and not before: URLs that redirect in a circle would all be left to one another.
        """
        if url == task.url:
            return fetched
        tasks = self._tasks if task.depth and fetched.reason == reasons.OK and not single else None
        key, host = dedupe_key(url), parse(url).host
        if (key, host) == (dedupe_key(task.url), parse(task.url).host):
            tasks = None  # another spelling of this task's own URL
        if tasks and await tasks.is_known(task.scope, host, key):
            return Fetched("redirected", fetched.at, status=fetched.status, error=f"redirected to {url}")
        return msgspec.structs.replace(fetched, moved_to=url)

    async def _observe_and_judge(
        self, host: LeasedHost, sent: TimedResponse, task: ClaimedTask, page_context: RequestContext
    ) -> Fetched:
        if self._observer is not None:
            self._observer.observe(page_context.plan, sent.at, sent.response)
        return await self._judge_response(host, sent, task, page_context)

    async def _judge_response(
        self, host: LeasedHost, sent: TimedResponse, task: ClaimedTask, page_context: RequestContext
    ) -> Fetched:
        at, response = sent.at, sent.response
        if is_challenge(response, self._max_bytes):
            return Fetched("challenge", at, status=response.status, error="a challenge instead of the page")
        if reason := reasons.for_status(response.status):
            return self._refused(host, sent, reason, single=task.scope == SCOPE)
        host.pace.eased()
        if response.status == NOT_MODIFIED:
            return _not_modified(sent, task, page_context)
        if task.scope == SCOPE and response.status != PAGE:
            return Fetched("odd_status", at, status=response.status, error=f"HTTP {response.status}")
        if response.status in reasons.NO_CONTENT:
            return Fetched("no_content", at, status=response.status, error=f"HTTP {response.status}")
        if response.status in REDIRECT_STATUSES:
            error = f"HTTP {response.status} without a Location"
            return Fetched("bad_url", at, status=response.status, error=error)
        if not _is_accepted(response, page_context.plan):
            kind = response.header("content-type") or ""
            return Fetched("content_type", at, status=response.status, error=f"not wanted: {kind[:100]}")
        body = await _decoded(response, page_context.max_body_bytes or self._max_bytes)
        return Fetched(reasons.OK, at, response, body, response.status)

    def _refused(self, host: LeasedHost, sent: TimedResponse, reason: str, *, single: bool) -> Fetched:
        """Return the outcome of a refused request; a 429 for a single URL doubles the host's delay for a while."""
        status = sent.response.status
        if single and status == TOO_MANY_REQUESTS:
            host.impose(min(2 * host.pace.delay, MAX_DELAY_SECONDS), self._clock.monotonic() + THROTTLED_DELAY_SECONDS)
        after = pause_host(host, sent.response, self._clock, self._chance())
        return Fetched(reason, sent.at, status=status, error=f"HTTP {status}", retry_after=after)


def _resent(after_ms: int | None) -> tuple[RequestMade, ...]:
    """Return the request that broke on a keep-alive connection and was sent again, if there was any."""
    return () if after_ms is None else (RequestMade(ms=after_ms, reason=RESENT),)


async def _decoded(response: Response, max_bytes: int) -> bytes:
    """Return the decoded body; a body that grows large is decoded in a thread, to keep the event loop free."""
    headers, body = response.headers, response.body
    if len(body) <= MAX_INLINE_BYTES:
        try:
            return decode_body(headers, body, min(max_bytes, 8 * MAX_INLINE_BYTES))
        except Undecodable as error:
            if error.kind != "too_large":
                raise
    return await asyncio.to_thread(decode_body, headers, body, max_bytes)


def _not_modified(sent: TimedResponse, task: ClaimedTask, page_context: RequestContext) -> Fetched:
    """Return the outcome of a 304 Not Modified."""
    at, response = sent.at, sent.response
    if task.known is None or not page_context.headers:
        return Fetched("protocol", at, status=response.status, error="not modified, though nothing was known")
    if task.earlier is None:
        return Fetched(reasons.OK, at, status=response.status)  # the task has that page already: nothing more is kept
    return Fetched(reasons.OK, at, response, status=response.status, same_as=task.known)


def _max_body_bytes(url: str, plan: CrawlPlan, usual: int) -> int:
    """Return the largest allowed body; a sitemap may be as large as its protocol allows."""
    if plan.fetch.max_body_bytes is not None:
        return plan.fetch.max_body_bytes
    return max(usual, MAX_BYTES) if plan.bounds.sitemaps and may_be_sitemap(url) else usual


def _is_accepted(response: Response, plan: CrawlPlan) -> bool:
    """Return True when the run accepts the content type; a response without one is accepted."""
    return not plan.fetch.content_types or response.media_type in ("", *plan.fetch.content_types)
