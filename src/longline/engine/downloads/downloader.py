"""The download stage: requests a file at its host's turn and streams it into the object store.

Robots.txt, parsers and the archive have no part in it. Every outcome has a reason of `model/frontier/reasons.py`, and
none is a skip: a file is stored, tried again or given up.
"""

import asyncio
import random
from collections.abc import Callable

import msgspec

from longline.engine.downloads.file_places import FilePlace
from longline.engine.downloads.file_stream import FileLimits, FileStream
from longline.engine.fetch.fetcher import Fetched
from longline.engine.fetch.request_sender import LeaseLost, RequestContext, Sender, StreamLimits, TimedStream
from longline.engine.fetch.retry_after import pause_host
from longline.engine.frontier.leased_hosts import LeasedHost, Overslept, TaskWithdrawn
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.back_off import back_off
from longline.model.downloads.download import DEFAULT_CONTENT_TYPE, DownloadOrder, DownloadResult, StoredFile
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.downloads.image_size import HEAD_BYTES, image_size
from longline.model.downloads.request_headers import permitted_headers
from longline.model.errors import BadInput, Unavailable, UploadRefused
from longline.model.fetch.credentials import Headers
from longline.model.fetch.redirects import REDIRECTS
from longline.model.frontier import reasons
from longline.model.frontier.task import ClaimedTask, RequestMade, TaskRedirect
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.url import BadUrl, parse
from longline.ports.blobs import StreamingBlobs
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed

WHOLE = 200
IDENTITY = "identity"

MAX_DISCARDED_BYTES = 64 * 1024
"""Size up to which the body of a redirect is read, so that its connection can be used again."""

FIRST_STORE_PAUSE_SECONDS, MAX_STORE_PAUSE_SECONDS = 0.5, 30.0
"""Seconds without requests after the object store was found away: at first, and at most."""


class Downloaded(msgspec.Struct, frozen=True):
    """The outcome of one attempt: the request as of a page, and the result for the rows of the download."""

    fetched: Fetched
    result: DownloadResult


class _Attempt(msgspec.Struct):
    """The state of one attempt: the task, its plan and its order, and the requests so far."""

    host: LeasedHost
    task: ClaimedTask
    plan: CrawlPlan
    order: DownloadOrder
    rules: DownloadPlan
    context: RequestContext
    limits: StreamLimits
    place: FilePlace | None = None
    proxy: str | None = None
    stored: StoredFile | None = None
    stream: FileStream | None = None


class DownloadStage:
    """The downloads of the hosts that one worker holds."""

    def __init__(
        self,
        sender: Sender,
        blobs: StreamingBlobs,
        politeness: PolitenessKey,
        clock: Clock,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._sender, self._blobs, self._politeness, self._clock = sender, blobs, politeness, clock
        self._chance = chance
        self._store_away_until, self._store_failures = float("-inf"), 0

    async def run(
        self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan, place: FilePlace | None = None
    ) -> Downloaded:
        """Download one file, and store it; raise only errors that mean that the task was not begun.

        A small file leaves its `place` when its last byte has come.
        """
        started = self._clock.monotonic()
        attempt = self._attempt(host, task, plan)
        attempt.place = place
        self._check_store()
        try:
            async with asyncio.timeout(attempt.rules.total_seconds):
                fetched = await self._store_file(attempt)
        except TimeoutError:
            error = f"not done within {attempt.rules.total_seconds:g} s"
            fetched = Fetched("total_timeout", self._clock.now(), error=error)
        except FetchFailed as failed:
            fetched = Fetched(failed.kind, self._clock.now(), error=str(failed), retry_after=failed.retry_after)
        except Unavailable:
            self._note_store(away=True)
            raise
        # A deadline counts only if this process ran all the while.
        if fetched.reason in reasons.TIMEOUTS and _lapsed(host, started, self._clock.monotonic()):
            raise Overslept
        ms = round((self._clock.monotonic() - started) * 1000)
        size = attempt.stream.bytes if attempt.stream is not None else 0
        asked = (*attempt.context.asked, RequestMade(fetched.status, ms, size))
        proxy_id = attempt.context.proxies[-1] if attempt.context.proxies else None
        return Downloaded(
            msgspec.structs.replace(fetched, asked=asked, proxy_id=proxy_id), self._result(attempt, ms, fetched)
        )

    def _attempt(self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan) -> _Attempt:
        order, rules = task.download or DownloadOrder("", ""), plan.downloads or DownloadPlan()
        plan = _with_pools(plan, order)
        own = self._sender.own_headers(order.headers) if order.headers and task.home_id is None else ()
        context = RequestContext(
            task.run_id,
            plan,
            own=permitted_headers(own),
            own_url=task.url,
            mark=task.mark,
            accept_encoding=IDENTITY,
        )
        waits = (rules.connect_seconds, rules.idle_seconds, rules.total_seconds)
        limits = StreamLimits(*waits, rules.forbidden_blames_proxy)
        return _Attempt(host, task, plan, order, rules, context, limits)

    def _result(self, attempt: _Attempt, ms: int, fetched: Fetched) -> DownloadResult:
        stored = attempt.stored if fetched.reason == reasons.OK else None
        rules = attempt.rules
        return DownloadResult(rules.kind, rules.tenant, attempt.host.lease.host, ms, stored, attempt.proxy)

    # -- the store --------------------------------------------------------------------------------------------

    def _check_store(self) -> None:
        """Raise `Unavailable` while the object store is known to be away: no host is asked for bytes in vain."""
        if self._clock.monotonic() < self._store_away_until:
            raise Unavailable("the object store was away a moment ago")

    def _note_store(self, *, away: bool) -> None:
        self._store_failures = self._store_failures + 1 if away else 0
        pause = back_off(FIRST_STORE_PAUSE_SECONDS, self._store_failures - 1, MAX_STORE_PAUSE_SECONDS) if away else 0.0
        self._store_away_until = self._clock.monotonic() + pause

    async def _store_file(self, attempt: _Attempt) -> Fetched:
        """Request and store a file; a store that fails is tried again with a new request."""
        for number in range(1, attempt.rules.storage_attempts + 1):
            try:
                return await self._follow(attempt)
            except BadInput as error:
                return Fetched("upload", self._clock.now(), status=WHOLE, error=str(error))
            except UploadRefused as refused:
                if refused.is_final or number >= attempt.rules.storage_attempts:
                    return Fetched("upload", self._clock.now(), status=WHOLE, error=str(refused))
                retries = attempt.plan.retries
                await self._clock.sleep(back_off(retries.delay_seconds, number - 1, retries.max_delay_seconds))
                if attempt.place is not None:
                    attempt.place.take_again()
        raise ValueError("a file needs at least one attempt to store it")

    # -- the request ------------------------------------------------------------------------------------------

    async def _follow(self, attempt: _Attempt) -> Fetched:
        """Follow redirects on the host; at another host the task goes on under the lease of that host."""
        url, seen = _checked(attempt.task.url), list[str]()
        while True:
            opened = await self._open(attempt, url)
            head = opened.stream.head
            if head.status not in REDIRECTS or head.header("location") is None:
                return await self._take(attempt, url, opened)
            await _discard(opened)
            seen.append(url)
            url = head.leads_to(url)
            if ended := await self._hop(attempt, url, seen):
                return msgspec.structs.replace(ended, at=opened.at, status=head.status)

    async def _open(self, attempt: _Attempt, url: str, headers: Headers = ()) -> TimedStream:
        context = msgspec.structs.replace(attempt.context, headers=headers)
        opened = await self._sender.open(attempt.host, url, context, attempt.limits)
        attempt.proxy = opened.proxy.proxy.label if opened.proxy is not None else None
        return opened

    async def _hop(self, attempt: _Attempt, url: str, seen: list[str]) -> Fetched | None:
        """Return the outcome of a redirect that is not followed here, else None."""
        most, hops = attempt.plan.fetch.max_redirects, attempt.task.hops + len(seen)
        if url in seen:
            return Fetched("redirect_loop", 0, error=f"redirected back to {url}")
        if hops > most:
            return Fetched("too_many_redirects", 0, error=f"more than {most} redirects")
        if await self._politeness.covers(attempt.host.lease.host, url):
            return None
        there = TaskRedirect(url, await self._politeness.key(parse(url)), hops)
        return Fetched("redirected", 0, error=f"redirected to {url}", redirected_to=there)

    async def _take(self, attempt: _Attempt, url: str, opened: TimedStream) -> Fetched:
        """Judge a response by its head, and store the body of a file."""
        head = opened.stream.head
        if head.status != WHOLE:
            await _discard(opened)
            reason = reasons.for_status(head.status) or "odd_status"
            after = pause_host(attempt.host, head, self._clock, self._chance()) if reason != "odd_status" else None
            error = f"HTTP {head.status}"
            return Fetched(reason, opened.at, status=head.status, error=error, retry_after=after)
        attempt.host.pace.eased()
        head_bytes = HEAD_BYTES if attempt.rules.measures_images else 0
        limits = FileLimits(attempt.rules.max_bytes, attempt.order.sha256, head_bytes)
        stream = attempt.stream = FileStream(
            opened,
            lambda headers: self._open(attempt, url, headers),
            limits,
            lambda: self._received(attempt),
        )
        try:
            await self._upload(attempt, stream, opened)
        except FetchFailed as failed:
            if failed.proxy_fault and opened.proxy is not None:
                self._sender.note_break(opened.proxy)
            return Fetched(failed.kind, opened.at, status=head.status, error=str(failed))
        finally:
            await stream.close()
        return Fetched(reasons.OK, opened.at, status=head.status)

    async def _upload(self, attempt: _Attempt, stream: FileStream, opened: TimedStream) -> None:
        order, head = attempt.order, opened.stream.head
        content_type = order.content_type or head.header("content-type") or DEFAULT_CONTENT_TYPE

        def labels() -> dict[str, str]:
            given: dict[str, str] = {"Content-Type": content_type, **msgspec.json.decode(order.labels)}
            if encoding := head.header("content-encoding"):
                given.setdefault("Content-Encoding", encoding)
            digest = stream.sha256 or order.sha256
            return given | {"sha256": digest} if digest else given

        blobs = self._blobs if order.bucket is None else self._blobs.bucket(order.bucket)
        size = await blobs.upload(order.key, stream.pieces(), labels)
        self._note_store(away=False)
        measured = image_size(bytes(stream.head)) if stream.head else None
        attempt.stored = StoredFile(order.key, size, stream.sha256, content_type, order.bucket, measured)

    def _received(self, attempt: _Attempt) -> None:
        """Look at the lease after the last byte, and leave the place to the next file."""
        self._look_at_lease(attempt)
        if attempt.place is not None and attempt.stream is not None:
            attempt.place.leave(attempt.stream.bytes)

    def _look_at_lease(self, attempt: _Attempt) -> None:
        """Raise an error, before an object becomes visible, if another worker may have the task by now."""
        host = attempt.host
        if host.lost or self._clock.monotonic() >= host.expires:
            raise LeaseLost
        if attempt.task.mark in host.tasks.withdrawn:
            raise TaskWithdrawn


def _with_pools(plan: CrawlPlan, order: DownloadOrder) -> CrawlPlan:
    """Return the plan with the proxy pools that the order asks for, if it asks for any."""
    if not (names := order.pool_names):
        return plan
    proxying = msgspec.structs.replace(plan.fetch.proxying, use=True, pool=names[0], fallbacks=names[1:])
    return msgspec.structs.replace(plan, fetch=msgspec.structs.replace(plan.fetch, proxying=proxying))


def _lapsed(host: LeasedHost, start: float, now: float) -> bool:
    """Return whether the lease was not renewed in time since `start`: this process was stopped for some time."""
    return now >= host.expires or host.lapsed_until >= start


def give_up(host: LeasedHost, plan: CrawlPlan) -> DownloadResult:
    """Return the result of a download that is given up without a request."""
    rules = plan.downloads or DownloadPlan()
    return DownloadResult(rules.kind, rules.tenant, host.lease.host, 0)


def _checked(url: str) -> str:
    """Return the URL of a task; raise `FetchFailed` for one that cannot be requested."""
    try:
        return parse(url).href
    except BadUrl as error:
        raise FetchFailed("bad_url", f"not a URL that can be requested: {error.reason}") from None


async def _discard(opened: TimedStream) -> None:
    """Read a short body, so that its connection can be used again, and close the response."""
    length = opened.stream.content_length
    try:
        if length is not None and length <= MAX_DISCARDED_BYTES:
            async for _ in opened.stream.pieces():
                pass
    except FetchFailed:
        pass  # the head has said enough
    finally:
        await opened.stream.close()
