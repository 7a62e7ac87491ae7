"""Sessions: pages of a site that needs a login are requested after one, and again after another when it has expired."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

import msgspec

from longline.engine.fetch.redirect_following import redirected
from longline.engine.fetch.request_sender import LeaseLost, RequestContext, Sender, TimedResponse
from longline.engine.fetch.run_credentials import RunCredentials, SessionState
from longline.engine.frontier.leased_hosts import LeasedHost, TooSoon
from longline.engine.stored_secrets import Vault
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import Unavailable
from longline.model.fetch.content_encoding import decode_body
from longline.model.fetch.cookies import Cookie, RunCookies
from longline.model.fetch.credentials import MASK, Credentials
from longline.model.fetch.redirects import REDIRECTS
from longline.model.frontier.task import RequestMade
from longline.model.runs.crawl_plan import MAX_REDIRECTS
from longline.model.urls.link_resolution import join
from longline.model.urls.url import BadUrl, parse
from longline.plugins import Page
from longline.plugins.parser_errors import describe, place_of
from longline.plugins.session import LoginFailed, Session, SessionHook, SessionRequest
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Method, Request, Response
from longline.ports.login_sessions import SessionStore

log = logging.getLogger(__name__)

LOGIN_TIMEOUT_SECONDS = 120.0
"""Longest time of one login; the pauses between requests to the host are part of it."""

LOGIN_RETRY_SECONDS = 5.0
"""Seconds for which a failed login is not tried again: all pages that wait for it fail for its reason."""

MAX_LOGINS_PER_PAGE = 2
"""Largest number of logins after which one page is requested again: other pages may use up a short session."""

MAX_FRUITLESS_LOGINS = 3
"""Largest number of logins in a row after which the same page was refused as before."""

FRUITLESS_PAUSE_SECONDS = 300.0
"""Seconds after the last of these logins before another one is tried."""

MAX_RESPONSE_BYTES = 4 * 1024 * 1024
MIN_SECRET_CHARACTERS = 4
"""Length from which on a value is masked in error texts."""

MAX_RUNS = 1000

_Key = tuple[int, str]
"""A run and the name of a session's function."""


class SessionParts(NamedTuple):
    """The parts of sessions: the sender, the secrets of runs, and the stored logins, which the vault locks."""

    sender: Sender
    credentials: RunCredentials
    store: SessionStore
    vault: Vault
    clock: Clock


class _Logins:
    """The logins of a run by one function: those that did not help, and the last failure."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.fruitless = 0
        self.at = float("-inf")
        self.failure: tuple[float, str] | None = None


class Sessions:
    """A sender of requests that logs in first where a function of the operator does that for the URL."""

    def __init__(self, parts: SessionParts, hooks: Callable[[], tuple[SessionHook, ...]]) -> None:
        self._parts, self._hooks = parts, hooks
        self._logins: BoundedDict[_Key, _Logins] = BoundedDict(MAX_RUNS)

    async def send(self, host: LeasedHost, url: str, context: RequestContext) -> TimedResponse:
        """Send a request to a held host; raise `FetchFailed` when a login fails or does not help."""
        hook = self._hook(url) if not context.render else None
        if hook is None:
            return await self._parts.sender.send(host, url, context)
        first = number = await self._log_in_first(hook, host, url, context)
        sent = await self._parts.sender.send(host, url, context)
        for _ in range(MAX_LOGINS_PER_PAGE):
            if not self._has_expired(hook, sent, url):
                break
            again = await self._log_in_again(hook, host, url, context, number)
            if again is None:
                break
            number, response = again, sent.response
            context.asked.append(RequestMade(response.status, response.elapsed_ms, len(response.body)))
            sent = await self._parts.sender.send(host, url, context)
        if not self._has_expired(hook, sent, url):
            if number > first:
                self._logins_of(context, hook).fruitless = 0
        elif sent.response.status not in hook.statuses:
            raise FetchFailed("login_failed", f"{hook.name}: the site still asks to log in")
        return sent

    def _hook(self, url: str) -> SessionHook | None:
        hooks = self._hooks()  # asked for each request: the operator's files may change
        fits = [(fit, at) for at, hook in enumerate(hooks) if (fit := hook.fit(url)) is not None]
        return hooks[max(fits)[1]] if fits else None

    def _logins_of(self, context: RequestContext, hook: SessionHook) -> _Logins:
        key = context.run_id, hook.name
        if key not in self._logins:
            self._logins[key] = _Logins()
        return self._logins[key]

    def _has_expired(self, hook: SessionHook, sent: TimedResponse, url: str) -> bool:
        response = sent.response
        if response.status in hook.statuses:
            return True
        if response.status in REDIRECTS and (location := response.header("location")):
            return hook.leads_to_login(join(url, location) or "")
        if hook.expired is None:
            return False
        body = decode_body(response.headers, response.body, MAX_RESPONSE_BYTES)
        return hook.expired(Page(response.url, body, status=response.status, headers=response.headers))

    async def _log_in_first(self, hook: SessionHook, host: LeasedHost, url: str, context: RequestContext) -> int:
        """Log in unless the run has a session, of this process or a stored one; return the number of the login."""
        known = self._parts.credentials.session(context.run_id, hook.name)
        if known is not None:
            return known.number
        async with self._logins_of(context, hook).lock:
            known = self._parts.credentials.session(context.run_id, hook.name)
            known = known or await self._stored(hook, context, 0)
            return (known or await self._log_in(hook, host, url, context, 1)).number

    async def _log_in_again(
        self, hook: SessionHook, host: LeasedHost, url: str, context: RequestContext, used: int
    ) -> int | None:
        """Log in after a session has expired; return the number, or None when too many logins did not help."""
        logins = self._logins_of(context, hook)
        async with logins.lock:
            known = self._parts.credentials.session(context.run_id, hook.name)
            if known is None or known.number <= used:
                known = await self._stored(hook, context, used)
            if known is not None:
                return known.number
            lately = self._parts.clock.monotonic() < logins.at + FRUITLESS_PAUSE_SECONDS
            if logins.fruitless >= MAX_FRUITLESS_LOGINS and lately:
                return None
            logins.fruitless += 1
            return (await self._log_in(hook, host, url, context, used + 1)).number

    async def _stored(self, hook: SessionHook, context: RequestContext, used: int) -> SessionState | None:
        """Use a login that another process has stored, or this one before it was killed."""
        row = await self._parts.store.get(context.run_id, hook.name)
        if row is None or row.number <= used:
            return None
        state = SessionState(row.number, Credentials.read(self._parts.vault.unlock(row.locked)))
        self._parts.credentials.log_in(context.run_id, context.plan, hook, state)
        return state

    async def _log_in(
        self, hook: SessionHook, host: LeasedHost, url: str, context: RequestContext, number: int
    ) -> SessionState:
        logins, now = self._logins_of(context, hook), self._parts.clock.monotonic()
        if logins.failure is not None and now < logins.failure[0] + LOGIN_RETRY_SECONDS:
            raise FetchFailed("login_failed", logins.failure[1])
        login = _Login(self._parts, hook, host, context, url)
        try:
            credentials = await login.run()
        except FetchFailed as failed:
            logins.failure = self._parts.clock.monotonic(), str(failed)
            log.warning("login failed", extra={"session": hook.name, "run_id": context.run_id, "error": str(failed)})
            raise
        logins.failure, logins.at = None, self._parts.clock.monotonic()
        state = SessionState(number, credentials)
        await self._parts.store.put(context.run_id, hook.name, number, self._parts.vault.lock(credentials.text()))
        self._parts.credentials.log_in(context.run_id, context.plan, hook, state)
        log.info("logged in", extra={"session": hook.name, "run_id": context.run_id, "number": number})
        return state


class _Login:
    """One login: the requests of the operator's function, with cookies of its own."""

    def __init__(
        self, parts: SessionParts, hook: SessionHook, host: LeasedHost, context: RequestContext, url: str
    ) -> None:
        self._parts, self._hook, self._host, self._errand = parts, hook, host, context
        self._place = parse(url)
        # The cookies of an expired session are left behind: a site may refuse a login with them.
        self._jar = RunCookies(parts.credentials.given(context.run_id, context.plan).cookies)
        self._session = Session(url, partial(self._send))
        self._sent: set[str] = set()

    async def run(self) -> Credentials:
        """Run the function and return the headers and cookies that it left; raise `FetchFailed` for its failure."""
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT_SECONDS):
                await self._hook.function(self._session)
        except (LeaseLost, TooSoon, Unavailable):
            raise
        except TimeoutError:
            raise self._failed(f"not done within {LOGIN_TIMEOUT_SECONDS:g} s") from None
        except Exception as error:  # foreign code may raise any exception
            raise self._failed(_login_error(error, self._hook.file)) from None
        secure, hostname = self._place.scheme == "https", self._place.hostname
        for name, value in self._session.cookies.items():
            self._jar.add(Cookie(name, value, hostname, secure=secure))
        return Credentials(tuple(self._session.headers.items()), tuple(self._jar))

    def _failed(self, reason: str) -> FetchFailed:
        """Return the failure of the login; values that were sent or received on the way are masked."""
        known = {*self._sent, *self._session.headers.values(), *self._session.cookies.values()}
        known |= {cookie.value for cookie in self._jar}
        for value in sorted(known, key=len, reverse=True):
            if len(value) >= MIN_SECRET_CHARACTERS:
                reason = reason.replace(value, MASK)
        return FetchFailed("login_failed", f"{self._hook.name}: {reason}")

    async def _send(self, asked: SessionRequest) -> Page:
        """Send one request of the function and follow its redirects."""
        method = cast(Method, asked.method)
        request = Request(asked.url, asked.headers, method=method, body=asked.body)
        self._sent |= _secret_values(asked)
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send_once(request)
            if response.status not in REDIRECTS or response.header("location") is None:
                body = decode_body(response.headers, response.body, MAX_RESPONSE_BYTES)
                return Page(response.url, body, status=response.status, headers=response.headers)
            request = redirected(request, response.status, response.leads_to(request.url))
        raise FetchFailed("too_many_redirects", f"more than {MAX_REDIRECTS} redirects")

    async def _send_once(self, request: Request) -> Response:
        headers = request.headers
        if self._hook.fit(request.url) is not None:
            headers = (*headers, *self._session.headers.items())
        context = msgspec.structs.replace(
            self._errand,
            headers=headers,
            method=request.method,
            body=request.body,
            jar=self._jar,
            cut_at=MAX_RESPONSE_BYTES,
            found_on=None,
            mark=None,  # other tasks wait for the same login
            asked=[],
            exchanges=[],
        )
        try:
            same = parse(request.url).host == self._host.lease.host
        except BadUrl as bad:
            raise FetchFailed(bad.reason, str(bad)) from None
        if same:
            return (await self._parts.sender.send(self._host, request.url, context)).response
        return await self._parts.sender.send_unheld(request.url, context)


def _secret_values(asked: SessionRequest) -> set[str]:
    """Return the values of a request that may be secret: those of its headers and of its form."""
    form = asked.body.decode(errors="replace")
    words = defaultdict(str, (pair.partition("=")[::2] for pair in form.split("&")))
    return {form, *words.values(), *(value for name, value in asked.headers if name.lower() != "content-type")}


def _login_error(error: Exception, file: str) -> str:
    """Return an exception of foreign code in one line, with its place in the operator's file."""
    if not isinstance(error, FetchFailed | LoginFailed):
        return describe(error, file)
    place = place_of(error, file)
    return f"{place}: {error}" if place else str(error)
