import asyncio
import os

import pytest

from longline.engine.fetch.login_sessions import FRUITLESS_PAUSE_SECONDS, LOGIN_RETRY_SECONDS, SessionParts, Sessions
from longline.engine.fetch.request_sender import FetchSettings, RequestContext, Sender
from longline.engine.fetch.run_credentials import RunCredentials
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.stored_secrets import Vault
from longline.model.proxies.proxy_uri import Proxy
from longline.plugins import LoginFailed, Page, Session, session
from longline.plugins.session import SESSION_ATTRIBUTE
from longline.ports.http import FetchFailed, Request, Response
from longline.ports.login_sessions import SessionRow
from longline.ports.records.proxies import PickedProxy
from longline.testing.clock import FakeClock
from tests.engine.fakes import AGENT, FakeHttp, FakeWays, response
from tests.engine.fetch.test_fetcher import HOME, held, http
from tests.plans import crawl_plan

__all__ = ["http"]  # a fixture

PAGE, LOGIN = f"{HOME}page", f"{HOME}login"
VAULT = Vault("key")


class Store:
    """Logins in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, str], SessionRow] = {}

    async def get(self, run_id: int, name: str) -> SessionRow | None:
        return self.rows.get((run_id, name))

    async def put(self, run_id: int, name: str, number: int, locked: str) -> None:
        self.rows[run_id, name] = SessionRow(number, locked)

    async def drop_ended(self) -> int:
        return 0


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def host(clock: FakeClock) -> LeasedHost:
    return held(clock, concurrency=8)


def context(run_id: int = 1) -> RequestContext:
    return RequestContext(run_id, crawl_plan((HOME,)))


class Members(FakeHttp):
    """A site with pages that need a token, valid for so many requests; pages in `never` are always forbidden."""

    def __init__(self, clock: FakeClock, uses: int = 1000) -> None:
        super().__init__(clock)
        self.uses, self.left, self.logins = uses, dict[str, int](), 0
        self.never: set[str] = set()

    async def fetch(self, request: Request) -> Response:
        self.requests.append(request)
        await asyncio.sleep(0)
        if request.url == LOGIN:
            self.logins += 1
            self.left[f"token-{self.logins}"] = self.uses
            return response(LOGIN, body=f"token-{self.logins}".encode())
        token = dict(request.headers).get("Authorization", "")
        self.left[token] = self.left.get(token, 0) - 1
        return response(request.url, status=401 if request.url in self.never or self.left[token] < 0 else 200)


@session(match=f"{HOME}*")
async def log_in(site: Session) -> None:
    site.headers["Authorization"] = (await site.post("/login", data={"user": "a"})).body.decode()


def sessions_of(http: FakeHttp, clock: FakeClock, store: Store, function: object = log_in, **more: object) -> Sessions:
    credentials = RunCredentials(VAULT)
    exits = ProxyRotation(FakeWays(*more.get("ways", ())), clock)  # type: ignore[misc]
    sender = Sender(http, clock, FetchSettings(AGENT), exits, credentials=credentials)
    hooks = (getattr(function, SESSION_ATTRIBUTE),)
    return Sessions(SessionParts(sender, credentials, store, VAULT, clock), lambda: hooks)


async def test_one_login_serves_all_pages_of_a_run(clock: FakeClock, host: LeasedHost, store: Store):
    site = Members(clock)
    sessions = sessions_of(site, clock, store)
    sent = await asyncio.gather(*(sessions.send(host, f"{PAGE}{n}", context()) for n in range(8)))
    assert {one.response.status for one in sent} == {200}
    assert site.logins == 1
    assert "token-1" not in store.rows[1, "log_in"].locked
    assert ("Authorization", "(hidden)") in sent[0].headers
    await sessions.send(host, PAGE, context(run_id=2))
    assert site.logins == 2, "another run logs in too"
    await sessions.send(host, "https://other.example/", context())
    assert "Authorization" not in dict(site.requests[-1].headers)


async def test_an_expired_session_is_renewed_once_for_all(clock: FakeClock, host: LeasedHost, store: Store):
    site = Members(clock, uses=20)
    sessions = sessions_of(site, clock, store)
    for _ in range(5):
        sent = await asyncio.gather(*(sessions.send(host, f"{PAGE}{n}", context()) for n in range(8)))
        assert {one.response.status for one in sent} == {200}
    assert site.logins == 2


async def test_a_stored_login_is_used(clock: FakeClock, host: LeasedHost, store: Store):
    site = Members(clock, uses=2)
    await sessions_of(site, clock, store).send(host, PAGE, context())
    after = sessions_of(site, clock, store)
    await after.send(host, PAGE, context())
    assert site.logins == 1
    await sessions_of(site, clock, store).send(host, PAGE, context())
    assert (site.logins, store.rows[1, "log_in"].number) == (2, 2)
    asked = context()
    await after.send(host, PAGE, asked)
    assert site.logins == 2, "another process had logged in again"
    assert [request.status for request in asked.asked] == [401]


async def test_pages_that_stay_forbidden_cost_few_logins(clock: FakeClock, host: LeasedHost, store: Store):
    site = Members(clock)
    site.never = {f"{PAGE}{n}" for n in range(10)}
    sessions = sessions_of(site, clock, store)
    for url in sorted(site.never):
        assert (await sessions.send(host, url, context())).response.status == 401
    assert site.logins == 4, "the first login, and three without success"
    clock.advance(FRUITLESS_PAUSE_SECONDS + 1)
    host = held(clock, concurrency=8)
    await sessions.send(host, f"{PAGE}1", context())
    assert site.logins == 5


@pytest.mark.parametrize("sign", ["redirect", "page"])
async def test_other_signs_of_a_lost_session_fail_the_page_if_a_login_does_not_help(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, store: Store, sign: str
):
    @session(match="*", redirects="*/login", expired=lambda page: page.text("h1") == "Log in")
    async def knock(site: Session) -> None:
        site.cookies["id"] = "1"

    moved = response(PAGE, 302, headers=(("Location", "/login"),))
    http.on(PAGE, moved if sign == "redirect" else response(PAGE, body=b"<h1>Log in</h1>"))
    with pytest.raises(FetchFailed, match="knock: the site still asks to log in") as caught:
        await sessions_of(http, clock, store, knock).send(host, PAGE, context())
    assert caught.value.kind == "login_failed"
    assert dict(http.requests[-1].headers)["cookie"] == "id=1"


async def test_a_failed_login_is_reported_without_secrets_and_not_repeated_at_once(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, store: Store
):
    @session(match="*")
    async def fails(site: Session) -> None:
        await site.post("/login", data={"password": "secret-1"})
        raise LoginFailed("not with secret-1")

    sessions = sessions_of(http, clock, store, fails)
    for _ in range(3):
        with pytest.raises(FetchFailed, match=r"fails: \S*test_login_sessions.py:\d+: not with \(hidden\)"):
            await sessions.send(host, PAGE, context())
    assert http.urls == [LOGIN]
    clock.advance(LOGIN_RETRY_SECONDS + 1)
    with pytest.raises(FetchFailed):
        await sessions.send(held(clock), PAGE, context())
    assert http.urls == [LOGIN, LOGIN]


async def test_a_missing_variable_of_the_environment_is_named_with_the_line_of_the_function(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, store: Store
):
    @session(match="*")
    async def secret(site: Session) -> None:
        await site.post("/login", data={"password": os.environ["NO_SUCH_PASSWORD"]})

    said = r"secret: \S*test_login_sessions.py:\d+: the environment variable NO_SUCH_PASSWORD is not set; set it before"
    with pytest.raises(FetchFailed, match=said):
        await sessions_of(http, clock, store, secret).send(host, PAGE, context())


async def test_redirects_of_a_login_change_its_method_and_keep_its_cookies(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, store: Store
):
    pages: list[Page] = []

    @session(match="*")
    async def redirected(site: Session) -> None:
        pages.append(await site.post("/login", data={"a": "1"}))

    set_cookie = ("Set-Cookie", "id=7; Path=/")
    http.on(LOGIN, response(LOGIN, 303, headers=(("Location", "https://b.example/in"), set_cookie)))
    http.on("https://b.example/in", response("https://b.example/in", 307, headers=(("Location", f"{HOME}done"),)))
    await sessions_of(http, clock, store, redirected).send(host, PAGE, context())
    told = [(r.method, r.url, r.body, dict(r.headers).get("cookie")) for r in http.requests]
    assert told == [
        ("POST", LOGIN, b"a=1", None),
        ("GET", "https://b.example/in", b"", None),
        ("GET", f"{HOME}done", b"", "id=7"),
        ("GET", PAGE, b"", "id=7"),
    ]
    assert pages[0].url == f"{HOME}done"


@pytest.mark.parametrize(("kind", "sent"), [("proxy_refused", 2), ("proxy_failed", 1)])
async def test_a_post_is_repeated_through_another_proxy_only_if_the_first_refused_it(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, store: Store, kind: str, sent: int
):
    ways = [PickedProxy(n, Proxy("http", "192.0.2.1", 8000 + n)) for n in (1, 2)]
    http.on(LOGIN, FetchFailed(kind, "no", proxy_fault=True), response(LOGIN, body=b"t1"))
    sessions = sessions_of(http, clock, store, ways=ways)
    if sent == 1:
        with pytest.raises(FetchFailed, match=r"log_in: \S+: no"):
            await sessions.send(host, PAGE, context())
    else:
        await sessions.send(host, PAGE, context())
    assert http.urls.count(LOGIN) == sent
