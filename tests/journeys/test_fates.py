"""Every failure of a page has its reason in the run's summary, and is retried only where a retry may help."""

import re
import ssl
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme
from msgspec.structs import replace

from longline.model.frontier import reasons
from longline.model.frontier.retries import MAX_CLAIMS
from longline.model.frontier.worker import FETCH, PARSE
from longline.model.runs.run import Fate
from longline.ports.records.frontier.frontier import ClaimRequest
from longline.services.crawls.crawls import Crawls
from longline.settings import Settings
from longline.wiring import CrawlRequest, CrawlResult, Watcher, crawl, open_platform
from longline.wiring.platform import migrate_tables, registered_worker
from tests.cli.conftest import surroundings
from tests.journeys.place import Place
from tests.plans import changed, crawl_plan, crawl_stores
from tests.servers import program
from tests.servers.postgres import apart
from tests.servers.proxies import Manners, running_proxy
from tests.web import SiteHandle, running_site
from tests.web.site import ROBOTS
from tests.web.unreachable import closed_port, full_port

TRIES = 2

BOUNDS = {"LONGLINE_MAX_RETRIES": f"{TRIES - 1}", "LONGLINE_MAX_BODY": "200KB"}
HASTY = {"LONGLINE_CONNECT_TIMEOUT": "700ms", "LONGLINE_IDLE_TIMEOUT": "1s", "LONGLINE_REQUEST_TIMEOUT": "2s"}
"""Short timeouts, for servers that never answer: all others have time, on a busy machine too."""

TIMED = {"connect_timeout", "idle_timeout", "total_timeout"}
"""The reasons of timeouts."""

Summary = dict[tuple[str, str], int]
"""Counts by fate and reason."""


class Case(NamedTuple):
    """A URL, its expected fate, and its attempts. The words in braces are places of `Trouble`.

    `visits` are given where they differ from the attempts: no server counts them, or the page is never requested. A
    request that breaks on a kept connection may be `resent`: each of its attempts is one visit or two.
    """

    url: str
    fate: str
    reason: str
    tries: int = 1
    visits: int | None = None
    linked: bool = True
    resent: bool = False


CASES = [
    Case("{site}/gzip", "completed", "ok"),
    Case("{site}/latin1", "completed", "ok"),
    Case("{site}/challenge", "skipped", "challenge"),
    # No server, or none with a valid certificate.
    Case("http://nobody.invalid/", "failed", "dns", TRIES, visits=0),
    Case("http://127.0.0.1:{closed}/", "failed", "refused", TRIES, visits=0),
    Case("http://127.0.0.1:{full}/", "failed", "connect_timeout", TRIES, visits=0),
    Case("{secure}/", "failed", "tls", visits=0),
    # Responses that do not arrive, or are incomplete.
    Case("{site}/hang", "failed", "idle_timeout", TRIES),
    Case("{site}/stall", "failed", "idle_timeout", TRIES),
    Case("{site}/drip", "failed", "total_timeout", TRIES),
    Case("{site}/reset", "failed", "reset", TRIES, resent=True),
    Case("{site}/truncated", "failed", "truncated", TRIES),
    Case("{site}/gibberish", "failed", "protocol", TRIES),
    # Bodies that are too much, or cannot be read.
    Case("{site}/big?bytes=1000000", "failed", "too_large"),
    Case("{site}/bomb?bytes=1000000", "failed", "too_large"),
    Case("{site}/garbled", "failed", "bad_encoding"),
    Case("{site}/compress", "failed", "bad_encoding"),
    Case("{site}/intricate", "failed", "parser_error"),
    # Responses with an error status.
    Case("{site}/status/403", "failed", "http_4xx"),
    Case("{site}/status/404", "failed", "http_4xx"),
    Case("{site}/status/425", "failed", "http_425", TRIES),
    Case("{site}/status/500", "failed", "http_5xx", TRIES),
    Case("{patient}/status/503?after=1", "failed", "http_5xx", TRIES),
    Case("{patient}/status/429?after=1", "failed", "http_429", TRIES),
    Case("{curt}/status/429", "failed", "http_429", TRIES),
    Case("{lawless}/", "failed", "http_5xx", TRIES, visits=0),
    # Responses with a status that a page cannot have.
    Case("{site}/status/101", "failed", "odd_status", TRIES),
    Case("{site}/status/206", "failed", "odd_status", TRIES),
    Case("{site}/status/204", "skipped", "no_content"),
    # Redirects.
    Case("{site}/status/302", "failed", "bad_url"),
    Case("{site}/loop", "failed", "redirect_loop"),
    Case("{site}/redirect/25", "failed", "too_many_redirects"),
    Case("{site}/to?url=ftp://off-site.example/", "failed", "bad_url"),
    Case("{site}/to?url=http://169.254.169.254/", "skipped", "redirected"),
    # URLs that may not be requested.
    Case("http://169.254.169.254/", "failed", "egress", visits=0, linked=False),
    Case("http://127.0.0.2:{closed}/", "failed", "egress", visits=0),
    Case("{site}/private/1", "skipped", "robots", visits=0),
    Case("{site}/to?url=/private/2", "skipped", "robots"),
    # Rules are read, however long they are.
    Case("{wordy}/private/1", "skipped", "robots", visits=0),
    Case("{wordy}/gzip", "completed", "ok"),
]

APART = {"binary_url", "content_type", "http_408", "proxy_exhausted", "worker_lost"}
"""Reasons with a crawl of their own in this module."""

OF_PROXIES = {"proxy_auth", "proxy_failed", "proxy_refused"}
OF_DOWNLOADS = {"checksum", "upload"}
ELSEWHERE = {"internal", "login_failed", "network", "page_lost", "render_failed"} | OF_PROXIES | OF_DOWNLOADS
"""Reasons of internal failures, of failures without a better reason, of downloads, of requests that schedules alone
make, and of proxies (a page has `proxy_exhausted`)."""


THEIRS = """
from longline.plugins import Item, parser

@parser("own", match="*/theirs")
async def own(page):
    yield Item("page", title=page.title)
    raise ZeroDivisionError("of their own")
"""


class Trouble(NamedTuple):
    """The places of the troubles: sites and ports."""

    site: SiteHandle
    curt: SiteHandle
    patient: SiteHandle
    lawless: SiteHandle
    wordy: SiteHandle
    secure: SiteHandle
    closed: int
    full: int

    def cases(self, timed: bool) -> list[Case]:
        """Return the cases with real addresses: those that use up all attempts, or the others."""
        places = {k: v.url.rstrip("/") if isinstance(v, SiteHandle) else v for k, v in self._asdict().items()}
        wanted = [case for case in CASES if (case.reason in TIMED) == timed]
        return [case._replace(url=case.url.format_map(places)) for case in wanted]

    def visits(self) -> Counter[str]:
        """Return the number of requests for each URL, over all sites."""
        sites = [place for place in self if isinstance(place, SiteHandle)]
        return Counter({s.url.rstrip("/") + path: n for s in sites for path, n in s.visits().items()})


@pytest.fixture
def trouble() -> Iterator[Trouble]:
    """A place for every kind of trouble."""
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(certificate)
    with ExitStack() as stack:
        enter = stack.enter_context
        site, curt, patient = (enter(running_site(pages=1)) for _ in range(3))
        lawless, wordy = (enter(running_site(pages=1, robots=robots)) for robots in (500, ROBOTS + "#" * 1_000_000))
        secure = enter(running_site(pages=1, tls=certificate))
        yield Trouble(site, curt, patient, lawless, wordy, secure, enter(closed_port()), enter(full_port()))


@pytest.fixture
def here(migrated_url: str, tmp_path: Path) -> Place:
    """A folder, with the records in it or on PostgreSQL."""
    return Place(tmp_path, {"database": migrated_url})


def typed(place: Place, url: str, bounds: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `longline crawl` to its end."""
    flags = ["--depth", "1", "--offsite", "--host-concurrency", "64", "--delay", "0s", "--out", str(place.data)]
    return program.run("crawl", url, *flags, "--database", place.engines["database"], env=surroundings(bounds))


def printed(text: str) -> Summary:
    """Return the rows of the table."""
    rows = re.findall(r"^(\S.*?)\t(.*?)\t([\d,]+)$", text, re.M)
    return {(fate, reason): int(count.replace(",", "")) for fate, reason, count in rows}


async def told(settings: Settings) -> Summary:
    """Return the fates of the first run as the service counts them."""
    async with open_platform(settings) as platform:
        return counted(await Crawls(platform.lifecycle, crawl_stores(platform.records)).fates(1))


def counted(fates: list[Fate]) -> Summary:
    return {(f.fate, f.reason): f.count for f in fates}


@pytest.mark.parametrize("timed", [False, True], ids=["answered", "timed out"])
def test_every_failure_has_its_word_in_the_summary(here: Place, trouble: Trouble, timed: bool):
    cases = trouble.cases(timed)
    trouble.site.site.extra["/"] = "".join(f'<a href="{case.url}">x</a>' for case in cases if case.linked).encode()
    done = typed(here, trouble.site.url, BOUNDS | HASTY if timed else BOUNDS)
    assert done.returncode == 0, done.stderr
    cases = [Case(trouble.site.url, "completed", "ok"), *cases]
    ended = {
        url: (state, reason, tries)
        for url, state, reason, tries in here.ask("SELECT url, state, reason, attempt FROM tasks")
    }
    assert ended == {case.url: (case.fate, case.reason, case.tries) for case in cases}
    wanted: Summary = dict(Counter((case.fate, case.reason) for case in cases))
    assert {(f, r): n for f, r, n in here.ask("SELECT fate, reason, count FROM fates")} == wanted
    assert apart(partial(told, here.settings)) == wanted
    assert printed(done.stdout) == wanted | {("admitted", "the sum of these"): len(cases)}
    here.assert_sums_reconcile()
    visits = trouble.visits()
    for case in cases:
        least = case.tries if case.visits is None else case.visits
        assert least <= visits[case.url] <= least * (2 if case.resent else 1), case.url
    assert here.held() == {}


def test_every_reason_has_a_case():
    every = {reasons.OK, *reasons.RETRYABLE, *reasons.FINAL, *reasons.SKIPPED}
    assert {case.reason for case in CASES} | APART | ELSEWHERE == every
    retried = {case.reason for case in CASES if case.tries > 1}
    assert retried == set(reasons.RETRYABLE) - APART - ELSEWHERE


def asking(site: SiteHandle, **wishes: Any) -> CrawlRequest:
    usual = crawl_plan((site.url,), max_depth=1, delay_ms=0, concurrency=8, max_attempts=TRIES)
    return CrawlRequest(changed(usual, **wishes))


def summary(result: CrawlResult) -> Summary:
    """Return the summary of a crawl with a run that ended."""
    assert (result.run.state, result.run.open) == ("completed", 0)
    return counted(result.fates)


async def test_proxies_that_all_fail_leave_a_page_without_a_way(here: Place):
    strict = Manners("crew", "the password that we are not told")
    with running_site(pages=1) as site, closed_port() as dead, running_proxy("http", strict) as proxy:
        ways = tuple(f"http://127.0.0.1:{port}" for port in (dead, proxy.port))
        result = await crawl(replace(here.settings, proxies=ways), asking(site), Watcher())
        assert summary(result) == {("failed", "proxy_exhausted"): 1}
        assert here.ask("SELECT attempt FROM tasks") == [(TRIES,)]
        assert (proxy.asked, site.requests) == (TRIES, [])
    here.assert_sums_reconcile()


async def test_a_408_is_tried_again(here: Place):
    """On a kept connection a 408 may be about the connection: the request is sent once more in its attempt."""
    with running_site(pages=1) as site:
        site.site.extra["/"] = b'<a href="/status/408">x</a>'
        result = await crawl(here.settings, asking(site), Watcher())
        assert summary(result) == {("completed", "ok"): 1, ("failed", "http_408"): 1}
        assert here.ask("SELECT attempt FROM tasks WHERE reason = 'http_408'") == [(TRIES,)]
        assert TRIES <= site.visits()["/status/408"] <= 2 * TRIES
    here.assert_sums_reconcile()


async def test_a_proxy_is_accounted_only_for_requests_through_it(here: Place):
    """A name that does not resolve and a refused address do not count for a proxy."""
    with running_site(pages=1) as site, running_proxy("http") as proxy:
        site.site.extra["/"] = b'<a href="http://nobody.invalid/">x</a><a href="http://169.254.169.254/">x</a>'
        result = await crawl(replace(here.settings, proxies=(proxy.uri,)), asking(site, robots=False), Watcher())
        assert summary(result) == {("completed", "ok"): 1, ("failed", "dns"): 1, ("failed", "egress"): 1}
    assert len(proxy.passages) == 1
    assert here.ask("SELECT success_count, failure_count, total_failures FROM proxies") == [(1, 0, 0)]


async def test_a_proxy_that_never_listened_has_no_success(here: Place):
    with closed_port() as dead:
        settings = replace(here.settings, proxies=(f"http://127.0.0.1:{dead}",))
        plan = crawl_plan(("http://nobody.invalid/",), robots=False, delay_ms=0, max_attempts=TRIES)
        assert summary(await crawl(settings, CrawlRequest(plan), Watcher())) == {("failed", "dns"): 1}
    assert here.ask("SELECT success_count, failure_count, last_success_at FROM proxies") == [(0, 0, None)]


async def test_a_parser_of_somebodys_own_fails_its_pages_alone(here: Place, tmp_path: Path):
    theirs = tmp_path / "theirs.py"
    theirs.write_text(THEIRS)
    with running_site(pages=1) as site:
        site.site.extra = {"/": b'<a href="/theirs">x</a><a href="/gzip">x</a>', "/theirs": b"<title>Theirs</title>"}
        result = await crawl(replace(here.settings, parsers=(str(theirs),)), asking(site), Watcher())
        assert summary(result) == {("completed", "ok"): 2, ("failed", "parser_error"): 1}
        assert site.visits()["/theirs"] == 1
    [(url, error)] = here.ask("SELECT url, error FROM tasks WHERE reason = 'parser_error'")
    assert (url, error) == (f"{site.url}theirs", f"own: {theirs}:7: ZeroDivisionError('of their own')")
    # The page stays, and can be parsed again.
    assert here.value("SELECT COUNT(*) FROM pages") == 3
    here.assert_sums_reconcile()


async def test_content_that_is_not_wanted_is_left_out(here: Place):
    with running_site(pages=1) as site:
        site.site.extra["/"] = b'<a href="/big?bytes=10">x</a>'
        result = await crawl(here.settings, asking(site, content_types=("text/html",)), Watcher())
        assert summary(result) == {("completed", "ok"): 1, ("skipped", "content_type"): 1}
        assert site.visits()["/big?bytes=10"] == 1
    here.assert_sums_reconcile()


async def test_a_file_is_not_asked_for_where_only_pages_are_wanted(here: Place):
    with running_site(pages=1) as site:
        site.site.extra["/"] = b'<a href="/big?bytes=10">x</a>'
        result = await crawl(here.settings, asking(site, never=(r"/big\?",)), Watcher())
        assert summary(result) == {("completed", "ok"): 1, ("skipped", "binary_url"): 1}
        assert site.visits()["/big?bytes=10"] == 0
    here.assert_sums_reconcile()


async def test_a_page_that_no_worker_survives_is_given_up(here: Place):
    with running_site(pages=1) as site:
        request = asking(site)
        async with open_platform(here.settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            crawls = Crawls(platform.lifecycle, crawl_stores(platform.records))
            await crawls.release(await crawls.open(CrawlRequest(request.plan), 1, 30_000))
            for _ in range(MAX_CLAIMS):
                # A worker that leaves with a host loses it, as a dead worker does.
                async with registered_worker(platform, frozenset({FETCH, PARSE})) as owner:
                    [lease] = await platform.lifecycle.claim(ClaimRequest(owner, hosts=1, tasks=1, ttl_ms=30_000))
                    assert len(lease.tasks) == 1
        result = await crawl(here.settings, request, Watcher())
        assert result.resumed
        assert summary(result) == {("failed", "worker_lost"): 1}
        assert site.requests == []
    here.assert_sums_reconcile()
