import pytest

from longline.engine.fetch.run_credentials import RunCredentials, SessionState
from longline.engine.stored_secrets import Vault
from longline.model.errors import Unavailable
from longline.model.fetch.cookies import Cookie
from longline.model.fetch.credentials import Credentials
from longline.model.runs.crawl_plan import CrawlPlan
from longline.plugins import Session
from longline.plugins.session import SessionHook
from tests.plans import crawl_plan

HOME = "https://a.example/"
GIVEN = Credentials((("X-Key", "k"),), (Cookie("a", "1", "a.example"),))


async def log_in(_: Session) -> None: ...


HOOK = SessionHook("log_in", ("https://b.example/*",), frozenset({401}), (), log_in)


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault("key")


@pytest.fixture(scope="module")
def plan(vault: Vault) -> CrawlPlan:
    return crawl_plan((HOME, "http://c.example/"), credentials=vault.lock(GIVEN.text()))


def test_given_headers_go_to_the_origins_of_the_seeds(vault: Vault, plan: CrawlPlan):
    credentials = RunCredentials(vault)
    assert credentials.headers(1, plan, f"{HOME}x") == GIVEN.headers
    assert credentials.headers(1, plan, "https://c.example/") == GIVEN.headers
    for url in ("http://a.example/", "https://a.example:8443/", "https://www.a.example/", "https://b.example/"):
        assert credentials.headers(1, plan, url) == ()
    assert credentials.jar(1, plan).header(HOME) == "a=1"


def test_a_login_adds_headers_for_its_urls(vault: Vault, plan: CrawlPlan):
    credentials = RunCredentials(vault)
    left = Credentials((("Authorization", "Bearer t"),), (Cookie("s", "2", "b.example"),))
    assert credentials.session(1, "log_in") is None
    credentials.log_in(1, plan, HOOK, SessionState(3, left))
    assert credentials.headers(1, plan, "https://b.example/x") == left.headers
    assert credentials.headers(1, plan, HOME) == GIVEN.headers
    assert credentials.jar(1, plan).header("https://b.example/") == "s=2"
    assert credentials.session(1, "log_in") == SessionState(3, left)
    assert credentials.session(2, "log_in") is None


def test_a_run_without_credentials_has_no_secrets(vault: Vault, plan: CrawlPlan):
    credentials = RunCredentials(vault)
    credentials.jar(1, CrawlPlan((HOME,))).store(HOME, ["x=1"])
    credentials.jar(2, plan)
    assert (credentials.has_secrets(1), credentials.has_secrets(2), credentials.has_secrets(3)) == (False, True, False)


def test_credentials_of_another_key_are_an_error(plan: CrawlPlan):
    with pytest.raises(Unavailable, match="locked with another key"):
        RunCredentials(Vault("other")).jar(1, plan)
