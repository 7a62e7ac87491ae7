"""A crawl through five real proxies: two die midway, one lies, one wants a password; every figure is predicted."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from longline.model.proxies.proxy import SKIP_AFTER_FAILURES
from tests.journeys.place import Place
from tests.servers import program
from tests.servers.proxies import Manners, RunningProxy, running_proxy
from tests.web import SiteHandle, running_site

PAGES = 60
REQUESTS = PAGES + 1  # and robots.txt
MANNERS = [
    Manners(),
    Manners(dies_at=5),
    Manners(dies_at=9),
    Manners(lies=True),
    Manners(username="anna", password="hunter2"),
]


@dataclass
class Foretold:
    """The expected state of one proxy at the end. It works for that many requests, then never again."""

    works: float
    turn: int = 0
    successes: int = 0
    failures: int = 0
    in_a_row: int = 0

    def use(self, turn: int) -> bool:
        self.turn = turn
        works = self.successes < self.works
        self.successes += works
        self.failures += not works
        self.in_a_row = 0 if works else self.in_a_row + 1
        return works


def foretell(works: list[float], requests: int) -> list[Foretold]:
    """Rotate strictly among proxies without too many failures; one that fails a page gets no second request for it."""
    proxies = [Foretold(w) for w in works]
    turn = 0
    for _ in range(requests):
        failed: list[Foretold] = []
        while True:
            turn += 1
            able = [p for p in proxies if p.in_a_row < SKIP_AFTER_FAILURES and p not in failed]
            chosen = min(able, key=lambda p: (p.turn, proxies.index(p)))
            if chosen.use(turn):
                break
            failed.append(chosen)
    return proxies


@pytest.fixture
def proxies() -> Iterator[list[RunningProxy]]:
    with ExitStack() as stack:
        schemes = ["socks5", "http", "http", "http", "http"]
        yield [stack.enter_context(running_proxy(s, m)) for s, m in zip(schemes, MANNERS, strict=True)]  # type: ignore[arg-type]


def crawl(place: Place, site: SiteHandle, proxies: list[RunningProxy], *more: str) -> subprocess.CompletedProcess[str]:
    engines = [
        word for name in ("database", "objects") if name in place.engines for word in (f"--{name}", place.engines[name])
    ]
    uris = ",".join(p.uri for p in proxies)
    words = ("crawl", site.url, "--depth", "9", "--out", str(place.data))
    return program.run(*words, "--proxies", uris, *engines, *more)


def figures(place: Place) -> list[tuple[int, int, int]]:
    return [
        (int(s), int(f), int(n))
        for s, f, n in place.ask("SELECT success_count, total_failures, failure_count FROM proxies ORDER BY id")
    ]


def test_five_proxies_serve_a_crawl_and_none_of_their_faults_is_a_pages(place: Place, proxies: list[RunningProxy]):
    with running_site(pages=PAGES) as site:
        done = crawl(place, site, proxies, "--concurrency", "1", "--host-concurrency", "1")
        assert done.returncode == 0, done.stdout + done.stderr
        visits = site.visits()
    assert place.ask("SELECT state, open, completed, failed FROM runs_now") == [("completed", 0, PAGES, 0)]
    assert place.ask("SELECT DISTINCT attempt FROM tasks WHERE state = 'completed'") == [(1,)]
    assert set(visits) == {"/robots.txt", *site.site.paths}
    # A dying proxy dies in the middle of the fifth and the ninth passage; a liar's answer never arrives.
    told = foretell([float("inf"), 4, 8, 0, float("inf")], REQUESTS)
    assert figures(place) == [(p.successes, p.failures, p.in_a_row) for p in told]
    assert sum(p.successes for p in told) == REQUESTS
    assert [(len(p.passages), p.asked) for p in proxies[1:4]] == [
        (5, 5),
        (9, 9),
        (SKIP_AFTER_FAILURES, SKIP_AFTER_FAILURES),
    ]
    assert place.ask("SELECT active FROM proxies ORDER BY id") == [(True,)] * 5, "skipped, and not yet switched off"
    (uses,) = place.ask("SELECT SUM(count) FROM proxy_uses")
    assert uses == (sum(p.successes + p.failures for p in told),)


def test_no_password_is_stored_or_told(place: Place, proxies: list[RunningProxy]):
    with running_site(pages=3) as site:
        done = crawl(place, site, proxies[4:], "--log-level", "debug")
        assert done.returncode == 0, done.stderr
    ((secret,),) = place.ask("SELECT secret FROM proxies")
    assert secret
    assert "hunter2" not in secret + done.stdout + done.stderr
    assert proxies[4].passages


def test_pages_fail_as_proxy_exhausted_when_no_proxy_is_left(place: Place, proxies: list[RunningProxy], tmp_path: Path):
    for proxy in proxies[:2]:
        proxy.die()
    with running_site(pages=3) as site:
        (tmp_path / "longline.toml").write_text("max_retries = 1\n")
        done = crawl(place, site, proxies[:2], "--config", str(tmp_path / "longline.toml"))
        assert (done.returncode, site.requests) == (1, []), "no request was sent without a proxy"
    assert place.ask("SELECT fate, reason, count FROM fates") == [("failed", "proxy_exhausted", 1)]
    assert "proxy_exhausted" in done.stdout
