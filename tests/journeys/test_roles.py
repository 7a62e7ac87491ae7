"""Separate roles: one process fetches, another parses the fetched pages, and together they crawl a site."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from longline.model.metrics.metric import ARCHIVED_PAGES, PARSE_SECONDS, counter_values, histogram_values
from tests.cli.conftest import running, surroundings
from tests.journeys.place import LOOPBACK, PATIENCE, Place, wait_until
from tests.servers import program
from tests.web import running_site

PAGES = 40


@pytest.fixture(params=["one folder", "two machines"])
def machines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Place]]:
    """The places of two processes: one folder, or folders of their own with the engines between them."""
    if request.param == "one folder":
        yield [Place(tmp_path / "data")] * 2
        return
    engines = {"database": request.getfixturevalue("wiped_home"), "objects": (tmp_path / "objects").as_uri()}
    first, second = (Place(tmp_path / name, engines) for name in ("first", "second"))
    words = ("migrate", "--data", str(first.data), "--database", engines["database"])
    program.run(*words, env=surroundings({})).check_returncode()
    yield [first, second]


def test_one_process_fetches_and_another_parses(machines: list[Place], tmp_path: Path):
    place = machines[0]
    with running_site(pages=PAGES) as site, ExitStack() as stack:
        place.give_work(site)
        fetch, parse = (
            stack.enter_context(running(tmp_path, "worker", "--roles", role, *there.flags, **LOOPBACK))
            for role, there in zip(("fetch", "parse"), machines, strict=True)
        )
        wait_until(lambda: place.value("SELECT COUNT(*) FROM workers") == 2, "two workers")
        assert {roles for (roles,) in place.ask("SELECT roles FROM workers")} == {"download,fetch", "parse"}
        wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
        for process in (fetch, parse):
            process.send_signal(signal.SIGTERM)
        for process in (fetch, parse):
            _, logged = process.communicate(timeout=PATIENCE)
            assert (process.returncode, "Traceback" in logged) == (0, False), logged
        # Links were followed and titles stored, so a process parsed; each page was requested once, so from the archive.
        place.assert_whole(site)
        visits = site.visits()
        assert visits.pop("/robots.txt") == 1
        assert (len(visits), set(visits.values())) == (PAGES, {1})
    counters: dict[str, int] = dict(place.ask("SELECT name, count FROM counters"))
    assert counter_values(ARCHIVED_PAGES, counters) == {(): PAGES}, "each process has added its counts"
    assert histogram_values(PARSE_SECONDS, counters)[()].at_most[-1] == ("+Inf", PAGES)
    assert [there.held() for there in machines] == [{}, {}]


def test_without_a_parser_pages_wait_for_one(tmp_path: Path):
    place = Place(tmp_path / "data")
    with running_site(pages=PAGES) as site:
        place.give_work(site)
        waiting = "SELECT COUNT(*) FROM tasks WHERE state = 'queued_parse'"
        with running(tmp_path, "worker", "--roles", "fetch", *place.flags, **LOOPBACK) as process:
            wait_until(lambda: place.value(waiting) == 1, "a page that waits")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        assert place.ask("SELECT state, open, completed FROM runs_now") == [("running", 1, 0)]
        visits = len(site.requests)
        with running(tmp_path, "worker", "--roles", "parse", *place.flags, **LOOPBACK) as process:
            wait_until(lambda: place.value("SELECT admitted FROM runs_now") > 1, "what the page links to")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        assert len(site.requests) == visits, "a parser sends no request"
        assert place.ask("SELECT completed FROM runs_now") == [(1,)]
    assert place.held() == {}


def test_a_thousand_pages_are_parsed_without_a_request(tmp_path: Path):
    place = Place(tmp_path / "data")
    with running_site(pages=1000) as site:
        place.give_work(site, site.page_urls)
        with running(tmp_path, "worker", "--roles", "fetch", *place.flags, **LOOPBACK) as process:
            waiting = "SELECT COUNT(*) FROM tasks WHERE state = 'queued_parse'"
            wait_until(lambda: place.value(waiting) == 1000, "a thousand pages that wait")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
        visits = len(site.requests)
        with running(tmp_path, "worker", "--roles", "parse", *place.flags, **LOOPBACK) as process:
            wait_until(
                lambda: place.value("SELECT completed FROM runs_now") == 1000, "a thousand pages that are parsed"
            )
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
        assert len(site.requests) == visits, "a parser sends no request"
    assert place.value("SELECT COUNT(DISTINCT title) FROM pages") == 1000
    assert place.held() == {}
