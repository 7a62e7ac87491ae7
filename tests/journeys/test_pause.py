"""A process that is stopped for longer than its leases goes on afterwards, with and without an intervening process."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.conftest import running
from tests.journeys.place import LOOPBACK, PATIENCE, Place, wait_until
from tests.servers import program
from tests.web import SiteHandle, running_site

PAGES = 120
HELD_AFTER = 40
LEASE_SECONDS = 1.5
Process = subprocess.Popen[str]
LEASE = {"LONGLINE_LEASE": f"{LEASE_SECONDS}s", "LONGLINE_REAP": "0.3s"}


def crawl(stack: ExitStack, site: SiteHandle, out: Path) -> Process:
    """Start a crawl; one that the test leaves behind is killed."""
    words = ["crawl", site.url, "--depth", "10", "--out", str(out)]
    pipe = subprocess.PIPE
    process = program.Program(words, stdout=pipe, stderr=pipe, text=True, env=os.environ | LEASE | LOOPBACK)
    stack.callback(process.communicate)
    stack.callback(process.kill)
    return process


def stopped_crawl(stack: ExitStack, site: SiteHandle, out: Path) -> Process:
    """Start a crawl, and stop its process in the middle of requests for longer than its leases last."""
    site.hold(after=HELD_AFTER)
    process = crawl(stack, site, out)
    wait_until(lambda: len(site.requests) > HELD_AFTER, "the middle of the crawl")
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.5 * LEASE_SECONDS)
    return process


def goes_on(process: Process) -> None:
    """Let a stopped process run on, to an end without a complaint."""
    process.send_signal(signal.SIGCONT)
    told, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (0, ""), told


def assert_whole(place: Place) -> None:
    assert place.ask("SELECT state, open, completed, failed FROM runs_now") == [("completed", 0, PAGES, 0)]
    assert place.value("SELECT COUNT(DISTINCT url) FROM pages") == place.value("SELECT COUNT(*) FROM pages") == PAGES
    place.assert_sums_reconcile()
    assert place.held() == {}


def test_a_crawl_takes_its_run_back(tmp_path: Path):
    with running_site(pages=PAGES) as site, ExitStack() as stack:
        process = stopped_crawl(stack, site, tmp_path / "out")
        before = len(site.requests)
        site.let_go()
        goes_on(process)
    assert_whole(Place(tmp_path / "out"))
    afterwards = [request.path for request in site.requests[before:]]
    assert len(afterwards) == len(set(afterwards)), "no request is sent under a lease that lapsed in the pause"


def test_a_crawl_goes_on_beside_a_worker_that_took_over(tmp_path: Path):
    place = Place(tmp_path / "out")
    with running_site(pages=PAGES) as site, ExitStack() as stack:
        process = stopped_crawl(stack, site, place.data)
        with running(tmp_path, "worker", *place.flags, **LOOPBACK, **LEASE) as other:
            wait_until(lambda: place.value("SELECT owner FROM runs") is None, "the lapse of the run")
            # The other process's first page is held up as well: the run cannot end without the first process.
            visits = len(site.requests)
            wait_until(lambda: len(site.requests) > visits, "the work of the other one")
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: place.value("SELECT owner FROM runs") is not None, "the return of the run")
            site.let_go()
            goes_on(process)
            other.send_signal(signal.SIGTERM)
            other.communicate(timeout=PATIENCE)
    assert_whole(place)


def test_a_crawl_helps_the_one_that_holds_its_run_now(tmp_path: Path):
    place = Place(tmp_path / "out")
    with running_site(pages=PAGES) as site, ExitStack() as stack:
        first = stopped_crawl(stack, site, place.data)
        [(before,)] = place.ask("SELECT owner FROM runs")
        second = crawl(stack, site, place.data)
        wait_until(lambda: place.value("SELECT owner FROM runs") not in {before, None}, "the second crawl")
        first.send_signal(signal.SIGCONT)
        time.sleep(LEASE_SECONDS)
        assert first.poll() is None, "the run has not ended, and so the first crawl must not"
        site.let_go()
        goes_on(first)
        goes_on(second)
    assert_whole(place)


def test_a_crawl_holds_its_run_when_the_one_that_held_it_is_stopped(tmp_path: Path):
    place = Place(tmp_path / "out")
    with running_site(pages=PAGES) as site, ExitStack() as stack:
        first = stopped_crawl(stack, site, place.data)
        [(before,)] = place.ask("SELECT owner FROM runs")
        second = crawl(stack, site, place.data)
        wait_until(lambda: place.value("SELECT owner FROM runs") not in {before, None}, "the second crawl")
        first.send_signal(signal.SIGCONT)
        time.sleep(LEASE_SECONDS)
        second.send_signal(signal.SIGINT)
        wait_until(lambda: place.value("SELECT owner FROM runs") == before, "the return of the run")
        site.let_go()
        second.communicate(timeout=PATIENCE)
        goes_on(first)
    assert_whole(place)


def pause(process: Process, site: SiteHandle) -> None:
    """Stop a process in the middle of requests for longer than its leases last."""
    wait_until(lambda: len(site.requests) > HELD_AFTER, "the middle of the crawl")
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.5 * LEASE_SECONDS)


def dismiss(process: Process) -> None:
    """Stop a process, which must end well."""
    process.send_signal(signal.SIGTERM)
    _, logged = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "Traceback" in logged) == (0, False), logged


@pytest.mark.parametrize("words", [["worker"], ["up", "--port", "0"]], ids=lambda words: words[0])
def test_a_process_that_was_stopped_works_again(tmp_path: Path, words: list[str]):
    place = Place(tmp_path / "data")
    with running_site(pages=PAGES) as site:
        place.give_work(site)
        site.hold(after=HELD_AFTER)
        with running(tmp_path, *words, *place.flags, **LOOPBACK, **LEASE) as process:
            pause(process, site)
            site.let_go()
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the run")
            dismiss(process)
    assert_whole(place)


def test_a_worker_on_another_machine_takes_over_and_the_first_one_comes_back(tmp_path: Path, wiped_home: str):
    engines = {"database": wiped_home, "objects": (tmp_path / "objects").as_uri()}
    first, second = (Place(tmp_path / name, engines) for name in ("first", "second"))
    with running_site(pages=PAGES, delay=0.02) as site, ExitStack() as stack:
        first.give_work(site)
        site.hold(after=HELD_AFTER)
        stopped = stack.enter_context(running(tmp_path, "worker", *first.flags, **LOOPBACK, **LEASE))
        pause(stopped, site)
        site.let_go()
        other = stack.enter_context(running(tmp_path, "worker", *second.flags, **LOOPBACK, **LEASE))
        wait_until(lambda: first.value("SELECT completed FROM runs_now") > HELD_AFTER, "the work of the other one")
        stopped.send_signal(signal.SIGCONT)
        wait_until(lambda: first.value("SELECT state FROM runs") == "completed", "the end of the run")
        dismiss(stopped)
        dismiss(other)
    assert_whole(first)
