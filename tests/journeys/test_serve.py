"""The platform as processes: started, requested, in the middle of a crawl, stopped, killed, and started wrongly."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from longline import __version__
from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.cli.conftest import surroundings
from tests.journeys.place import LOOPBACK, PATIENCE, Place, wait_until
from tests.servers import program
from tests.web import running_site

QUICKLY = 10
"""Seconds that a stop may take, half of the time that a hanging server takes to answer; the machine may be busy."""


def run(folder: Path, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    return program.run(*words, cwd=folder, env=surroundings(given))


@dataclass(frozen=True)
class Up:
    """A running `longline up`, and its output."""

    process: subprocess.Popen[str]
    where: str
    hint: str
    log: Path

    def stop(self, *, calmly: bool = True, then: Callable[[], object] = lambda: None) -> str:
        """Stop the process, quickly and in good order, and return its log. `then` is called after the signal."""
        self.process.send_signal(signal.SIGTERM)
        then()
        self.process.wait(QUICKLY)
        logged = self.log.read_text()
        assert self.process.returncode == 0, logged
        assert not calmly or "Traceback" not in logged, logged
        return logged


@contextmanager
def up(place: Place, *more: str, **given: str) -> Iterator[Up]:
    """Yield a running platform; processes that a test leaves running are killed, children too."""
    place.data.parent.mkdir(parents=True, exist_ok=True)
    log = place.data.parent / "log"
    with log.open("w") as logged:
        process = program.Program(
            ["up", "--port", "0", *place.flags, *more],
            cwd=place.data.parent,
            env=surroundings(LOOPBACK | given),
            stdout=subprocess.PIPE,
            stderr=logged,
            text=True,
            start_new_session=True,
        )
    assert process.stdout
    with process.stdout:
        try:
            said = process.stdout.readline()
            assert " listens on http://127.0.0.1:" in said, log.read_text()
            yield Up(process, said.split(" listens on ")[1].split()[0], process.stdout.readline(), log)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


# -- in good order ----------------------------------------------------------------------------------------------


def test_a_platform_answers_issues_a_token_and_stops(place: Place):
    with up(place) as it:
        assert it.hint.endswith(f"longline token --role admin --data {place.data}\n")
        answer = httpx.get(f"{it.where}/health", timeout=PATIENCE)
        told = answer.json()
        assert (answer.status_code, told["status"], told["service"]) == (200, "healthy", "crawler")
        assert (told["version"], told["uptime"][-1]) == (__version__, "s")
        assert {name: check["status"] for name, check in told["checks"].items()} == dict.fromkeys(
            ["database", "disk", "event_loop", "objects", "workers", *(["redis"] if place.engines else [])], "healthy"
        )
        assert "127.0.0.1" not in answer.text, "the page is public, and shows no address of an engine"
        assert place.value("SELECT roles FROM workers") == "download,fetch,parse,upkeep"
        printed = run(place.data.parent, *it.hint.split("longline ")[1].split(), "--sub", "me")
        claims = Tokens(jwt_secret(place.settings), lambda: 0).verify(printed.stdout.strip())
        assert (claims.role, claims.sub) == ("admin", "me")
        it.stop()
    assert place.held() == {}
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{it.where}/health", timeout=PATIENCE)


def test_a_platform_stopped_during_a_crawl_releases_all_leases_and_resumes_it(place: Place):
    with running_site(pages=400) as site:
        site.hold(after=60)
        place.give_work(site)
        with up(place) as it:
            wait_until(lambda: len(site.requests) > 60, "sixty visits")
            it.stop(then=site.let_go)
        assert place.held() == {}
        assert 0 < place.value("SELECT completed FROM runs_now") < 400
        seen = len(site.requests)
        with up(place) as it:
            wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
            assert 'longline_runs{state="completed"} 1.0' in httpx.get(f"{it.where}/metrics", timeout=PATIENCE).text
            it.stop()
        assert len(site.requests) > seen
        place.assert_whole(site)
        visits = site.visits()
        assert visits.pop("/robots.txt") == 2, "once for each process"
        assert set(visits.values()) == {1}, "requests in flight at the stop were finished and reported"
        assert place.held() == {}


def test_a_server_that_hangs_does_not_hold_up_the_stop(embedded: Place):
    with running_site(pages=1) as site:
        site.site.delay = 60
        embedded.give_work(site)
        with up(embedded) as it:
            wait_until(lambda: site.requests, "a visit")
            it.stop()
    assert embedded.held() == {}


CUT_OFF = {
    "work signals",
    "work requests",
    "robots signals",
    "proxy signals",
    "settings signals",
    "log followers",
    "calls",
    "done",
}
"""The loops that are woken by signals."""


def waiting(logged: str) -> set[str]:
    """Return the loops that logged that they must wait."""
    return {json.loads(line)["loop"] for line in logged.splitlines() if "loop paused, engine unavailable" in line}


def test_a_platform_without_signals_works_on(embedded: Place):
    place = Place(embedded.data, {"redis": "redis://127.0.0.1:1/0"})
    with running_site(pages=30) as site:
        place.give_work(site)
        with up(place) as it:
            told = httpx.get(f"{it.where}/health", timeout=PATIENCE)
            assert (told.status_code, told.json()["status"]) == (200, "degraded")
            wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
            wait_until(lambda: waiting(it.log.read_text()) == CUT_OFF, "the log of every loop without signals")
            logged = it.stop()
        place.assert_whole(site)
    assert waiting(logged) == CUT_OFF
    assert logged.count("log readers not notified") <= 2, "once by each process that notifies"


# -- several processes ------------------------------------------------------------------------------------------


def workers(place: Place) -> dict[int, int]:
    """Return the processes that work here: their ids as owners by their process ids."""
    return {int(name.rpartition(":")[2]): number for number, name in place.ask("SELECT id, name FROM workers")}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_its_workers_share_the_work_and_go_with_it(place: Place):
    with running_site(pages=60, delay=0.01) as site, up(place, "--workers", "3") as it:
        wait_until(lambda: len(workers(place)) == 3, "three workers")
        children = set(workers(place)) - {it.process.pid}
        assert (len(children), all(alive(child) for child in children)) == (2, True)
        place.give_work(site)
        wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
        it.stop()
        assert not any(alive(child) for child in children)
        place.assert_whole(site)
    assert place.held() == {}


def test_its_workers_go_also_when_it_is_killed(embedded: Place):
    with up(embedded, "--workers", "2") as it:
        wait_until(lambda: len(workers(embedded)) == 2, "two workers")
        [child] = set(workers(embedded)) - {it.process.pid}
        it.process.kill()
        it.process.wait()
        wait_until(lambda: not alive(child), "the end of the child", seconds=QUICKLY)
    assert set(workers(embedded)) == {it.process.pid}, "the child left in good order"
    with up(embedded) as it:
        wait_until(lambda: set(workers(embedded)) == {it.process.pid}, "the burial of who was killed")
        it.stop()
    assert embedded.held() == {}


def test_a_worker_that_dies_is_replaced(embedded: Place):
    with up(embedded, "--workers", "2") as it:
        wait_until(lambda: len(workers(embedded)) == 2, "two workers")
        [child] = set(workers(embedded)) - {it.process.pid}
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: set(workers(embedded)) - {it.process.pid, child}, "a new child")
        it.stop(calmly=False)
    assert set(embedded.held()) <= {"workers", "alive"}, "only the name of the dead process is left"


# -- started wrongly --------------------------------------------------------------------------------------------


def assert_one_line(outcome: subprocess.CompletedProcess[str], code: int, said: str) -> None:
    """Assert a failure with one clear line and no stack."""
    assert (outcome.returncode, outcome.stdout.strip()) == (code, ""), outcome.stderr
    assert outcome.stderr.startswith("error: ")
    assert outcome.stderr.count("\n") == 1, outcome.stderr
    assert said in outcome.stderr


NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
BELOW_A_FILE = "file/below cannot be written: Not a directory"
UNKNOWN = "there is no setting LONGLINE_DATBASE; the nearest is LONGLINE_DATABASE"
UNREACHABLE = "cannot reach the database at 127.0.0.1:1/none"
SEED = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("words", "given", "code", "said"),
    [
        (["up", "--data", "file/below"], {}, 1, BELOW_A_FILE),
        (["crawl", SEED, "--out", "file/below"], {}, 1, BELOW_A_FILE),
        (["up", "--database", NOWHERE], {}, 1, UNREACHABLE),
        (["worker", "--database", NOWHERE], {}, 1, UNREACHABLE),
        (["crawl", SEED, "--database", NOWHERE], {}, 1, UNREACHABLE),
        (["api", "--database", "mysql://a/b"], {}, 2, "mysql"),
        (["up"], {"LONGLINE_DATBASE": "x"}, 2, UNKNOWN),
        (["crawl", SEED], {"LONGLINE_DATBASE": "x"}, 2, UNKNOWN),
        (["up", "--config", "wrong.toml"], {}, 2, "wrong.toml: there is no setting datbase; the nearest is database"),
    ],
)
def test_a_mistake_is_one_clear_line(tmp_path: Path, words: list[str], given: dict[str, str], code: int, said: str):
    (tmp_path / "file").touch()
    (tmp_path / "wrong.toml").write_text('datbase = "x"\n')
    assert_one_line(run(tmp_path, *words, **given), code, said)


def test_a_taken_port_is_one_clear_line_and_leaves_nothing_behind(embedded: Place):
    with up(embedded) as it:
        port = it.where.rpartition(":")[2]
        second = run(embedded.data.parent, "up", "--port", port, *embedded.flags)
        assert_one_line(second, 1, f"port {port} on 127.0.0.1 is in use")
        assert list(workers(embedded)) == [it.process.pid]
        it.stop()
    assert embedded.held() == {}


@pytest.mark.parametrize("url", ["a.example", "ftp://a.example/", ""])
def test_a_bad_url_is_one_clear_line(tmp_path: Path, url: str):
    assert_one_line(run(tmp_path, "crawl", url), 2, "bad URL")
    assert list(tmp_path.iterdir()) == []


def test_objects_that_cannot_be_reached_are_one_clear_line(tmp_path: Path, s3_bucket: Any):
    gone = f"s3://no-such-bucket/x?endpoint={s3_bucket.endpoint}&access_key_id=a&secret_access_key=b"
    outcome = run(tmp_path, "crawl", "http://127.0.0.1:1/", "--objects", gone)
    assert_one_line(outcome, 1, "S3 bucket 'no-such-bucket'")


def test_a_service_does_not_make_tables_by_itself(tmp_path: Path, postgres_url: str):
    assert_one_line(run(tmp_path, "worker", "--database", postgres_url), 1, "migrations behind; run: longline migrate")
