"""The interval crawler's door of a running platform: jobs that really crawl, and processes that end in mid-run."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.cli.conftest import surroundings
from tests.journeys.place import PATIENCE, Place, wait_until
from tests.journeys.test_serve import Up, up

QUICK = 'poll = "100ms"\n'
IDLE = 'poll = "1h"\n'


class Stories:
    """A site with a start page that links to that many stories; the contract never follows links to `/page/...`.

    Each request after `held_after` visits waits as long as the attribute is set: a crawl gets that far and no further.
    """

    def __init__(self, pages: int) -> None:
        self.visits: Counter[str] = Counter()
        self.held_after: int | None = None
        self.body = ""
        links = "".join(f'<a href="/story/{n}">{n}</a>' for n in range(1, pages))
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.visits[self.path] += 1
                number = site.seen
                while site.held_after is not None and number > site.held_after:
                    time.sleep(0.02)
                body = b"" if self.path == "/robots.txt" else f"<title>T</title>{links}{site.body}".encode()
                self.send_response(404 if self.path == "/robots.txt" else 200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Write no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    @property
    def seen(self) -> int:
        return self.visits.total() - self.visits["/robots.txt"]

    def let_go(self) -> None:
        self.held_after = None


@contextmanager
def stories(pages: int) -> Iterator[Stories]:
    """Yield the site for the time of the context."""
    site = Stories(pages)
    thread = threading.Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.let_go()
        site.server.shutdown()
        thread.join()
        site.server.server_close()


ARTICLE = (
    '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Late"}</script><article><h1>Late</h1>'
    + "".join(f"<p>In the {n} hour the ferry was late, and no one on the quay knew why.</p>" for n in range(9))
    + "</article>"
)
"""The metadata and the text that make an article of a story."""

NEVER_BEGAN = ("run not started", "run failed")
"""The log of a run with an unknown source."""


class Client:
    """A client of the running platform."""

    def __init__(self, it: Up, place: Place) -> None:
        self.token = Tokens(jwt_secret(place.settings), lambda: time.time_ns() // 1_000_000).issue("admin", "me", 3600)
        self.http = httpx.Client(base_url=it.where, headers={"authorization": f"Bearer {self.token}"}, timeout=PATIENCE)

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self.http.get(path)
        assert answer.is_success, answer.text
        return answer.json()

    def runs(self, job: str) -> list[dict[str, Any]]:
        return list(reversed(self.get(f"/api/v1/jobs/{job}/executions")["executions"]))


@contextmanager
def quick(place: Place, settings: str = QUICK) -> Iterator[tuple[Up, Client]]:
    """Yield a platform that polls for due jobs all the time, or as the settings say."""
    place.data.parent.mkdir(parents=True, exist_ok=True)
    (place.data.parent / "longline.toml").write_text(settings)
    with up(place) as it:
        client = Client(it, place)
        with client.http:
            yield it, client


@contextmanager
def told_by(client: Client) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yield the events of the crawler stream until it ends, which it must by the end of the context."""
    told: list[tuple[str, dict[str, Any]]] = []

    def listen(lines: Iterator[str]) -> None:
        name = ""
        for line in lines:
            field, _, value = line.partition(": ")
            name = value if field == "event" else name
            if field == "data":
                told.append((name, json.loads(value)))

    with client.http.stream("GET", "/sse/crawler/events") as answer:
        listening = threading.Thread(target=listen, args=(answer.iter_lines(),), daemon=True)
        listening.start()
        wait_until(lambda: told, "a greeting")
        yield told
        listening.join(PATIENCE)
        assert not listening.is_alive()


def job(client: Client, site: Stories, **more: Any) -> str:
    """Make a job that crawls the site once, or as the fields say, and return its id."""
    source = client.post("/api/v1/sources", {"name": "site", "url": site.url, "rate_limit": "1ms", "max_depth": -1})
    made = client.post("/api/v1/jobs", {"source_id": source["id"], "url": site.url, **more})
    return str(made["id"])


def test_the_log_of_a_run_begins_with_it(place: Place):
    with stories(pages=2) as site, quick(place) as (it, client):
        site.held_after = 0
        made = job(client, site)
        with client.http.stream("GET", f"/api/v1/jobs/{made}/logs/stream/v2") as stream:
            said = next(line for line in stream.iter_lines() if "run started" in line)
        assert json.loads(said.partition(": ")[2])["category"] == "crawler.lifecycle"
        assert client.runs(made)[0]["status"] == "running", "its first page has not arrived yet"
        site.let_go()
        it.stop()


def test_a_job_crawls_its_source_and_can_be_forced_to_again(place: Place):
    with stories(pages=12) as site, quick(place) as (it, client):
        made = job(client, site, interval_minutes=6, interval_type="hours", schedule_enabled=True)
        wait_until(lambda: len(client.runs(made)) == 1, "the first run: there is room at once")
        wait_until(lambda: client.get(f"/api/v1/jobs/{made}")["status"] == "scheduled", "its end")
        [run] = client.runs(made)
        assert (run["status"], run["items_crawled"]) == ("completed", 12)
        assert run["metadata"]["crawl_metrics"]["status_codes"] == {"200": 12}
        client.post(f"/api/v2/jobs/{made}/force-run")
        wait_until(lambda: [r["status"] for r in client.runs(made)] == ["completed"] * 2, "the second run")
        assert {n for path, n in site.visits.items() if path != "/robots.txt"} == {2}, "visited anew"
        assert client.get("/api/v1/stats")["crawled_today"] == 24
        it.stop()
    assert place.held() == {}


def fetched_twice(site: Stories) -> dict[str, int]:
    """Return pages that the site served more than once; robots.txt belongs to a process, not to a run."""
    return {path: count for path, count in site.visits.items() if count > 1 and path != "/robots.txt"}


def said(client: Client, made: str) -> list[str]:
    return [line["message"] for line in client.get(f"/api/v1/jobs/{made}/logs/view?execution=1")["lines"]]


def test_stopped_in_mid_run_it_goes_on_at_once_as_the_same_execution(place: Place):
    with stories(pages=60) as site:
        site.held_after = 20
        with quick(place) as (it, client), told_by(client) as events:
            made = job(client, site)
            wait_until(lambda: site.seen > 20, "twenty visits")
            [before] = client.runs(made)
            it.stop(then=site.let_go)
        last = {name: facts for name, facts in events if facts.get("job_id") == made}
        assert last["job:status"]["status"] == "running", "clients of the stream get the event that it goes on"
        assert "job:completed" not in last
        assert place.held() == {}
        assert place.ask("SELECT state, owner, retries FROM schedules") == [("running", None, 0)]
        [(state, error, done, still_open)] = place.ask("SELECT state, error, completed, open FROM runs_now")
        assert (state, error, done > 0, still_open > 0) == ("running", None, True, True)
        with quick(place) as (it, client):
            wait_until(lambda: client.get(f"/api/v1/jobs/{made}")["status"] == "completed", "the end of the run")
            [run] = client.runs(made)
            assert (run["id"], run["status"], run["items_crawled"]) == (before["id"], "completed", 60)
            assert client.get("/api/v1/scheduler/metrics")["stale_locks_cleared"] == 0
            wait_until(lambda: client.get(f"/api/v1/jobs/{made}/logs")["executions"][0]["log_available"], "its log")
            assert [line for line in said(client, made) if "shutdown" in line] == [
                "interrupted by shutdown",
                "interrupted by shutdown, continued",
            ]
            it.stop()
        assert fetched_twice(site) == {}, "requests in flight at the stop were finished and reported"
        assert place.held() == {}


def test_cancelled_after_a_stop_in_mid_run_it_fetches_nothing_more(place: Place):
    with stories(pages=60) as site:
        site.held_after = 20
        with quick(place) as (it, client):
            made = job(client, site)
            wait_until(lambda: site.seen > 20, "twenty visits")
            it.stop(then=site.let_go)
        site.held_after = site.seen
        with quick(place) as (it, client):
            client.post(f"/api/v1/jobs/{made}/cancel")
            wait_until(lambda: client.runs(made)[0]["status"] == "cancelled", "its end")
            seen = site.seen
            it.stop(then=site.let_go)
        assert site.seen - seen <= 8, "only the requests in flight are finished"


def test_killed_in_mid_run_it_goes_on_at_once_as_the_same_execution(place: Place):
    with stories(pages=60) as site:
        site.held_after = 5
        with quick(place) as (it, client):
            made = job(client, site, interval_minutes=1, interval_type="days", schedule_enabled=True)
            wait_until(lambda: site.seen > 5, "a few visits")
            [before] = client.runs(made)
            os.killpg(it.process.pid, signal.SIGKILL)
            it.process.wait()
        seen = site.seen
        reported = place.value("SELECT completed FROM runs_now")
        site.let_go()
        with quick(place) as (it, client):
            wait_until(lambda: client.get(f"/api/v1/jobs/{made}")["status"] == "scheduled", "the end of the run")
            [run] = client.runs(made)
            assert (run["id"], run["status"], run["items_crawled"]) == (before["id"], "completed", 60)
            assert (run["retry_attempt"], "error_message" in run) == (0, False)
            assert client.get("/api/v1/scheduler/metrics")["stale_locks_cleared"] == 1
            wait_until(lambda: client.get(f"/api/v1/jobs/{made}/logs")["executions"][0]["log_available"], "its log")
            assert "recovered: stale lock" in said(client, made)
            it.stop()
        with quick(place) as (it, client):
            assert client.get("/api/v1/scheduler/metrics")["stale_locks_cleared"] == 0, "since the start"
            it.stop()
        again = sum(count - 1 for count in fetched_twice(site).values())
        assert again <= seen - reported, "only pages without a report are fetched again"


def test_a_daily_job_of_a_dead_machine_goes_on_at_another_within_the_lease(large: Place, tmp_path: Path):
    """The other machine cannot see that the process is dead: only the lease shows it."""
    lease = 4.0
    settings = QUICK + f'schedule_lease = "{lease}s"\nlease = "{lease}s"\n'
    other = replace(large, data=tmp_path / "other" / "data")
    with stories(pages=60) as site, quick(large, settings) as (it, client), quick(other, settings) as (still, second):
        site.held_after = 5
        made = job(client, site, interval_minutes=1, interval_type="days", schedule_enabled=True)
        wait_until(lambda: site.seen > 5, "a few visits")
        [before] = client.runs(made)
        owner = large.value("SELECT owner FROM schedules")
        mine = large.ask(f"SELECT id FROM workers WHERE name LIKE '%:{it.process.pid}'") == [(owner,)]
        victim, survivor, left = (it, still, second) if mine else (still, it, client)
        os.killpg(victim.process.pid, signal.SIGKILL)
        killed = time.monotonic()
        seen = site.seen
        site.let_go()
        wait_until(lambda: site.seen > seen, "another visit", lease + 10)
        wait_until(lambda: large.value("SELECT owner FROM schedules") != owner, "its adoption", lease + 10)
        assert time.monotonic() - killed < lease + 10
        wait_until(lambda: left.get(f"/api/v1/jobs/{made}")["status"] == "scheduled", "the end of the run")
        [run] = left.runs(made)
        assert (run["id"], run["status"], run["items_crawled"]) == (before["id"], "completed", 60)
        assert left.get("/api/v1/scheduler/metrics")["stale_locks_cleared"] == 1
        survivor.stop()


GUIDE = r"""
curl http://localhost:8060/health
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/jobs
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/scheduler/metrics
curl -X POST http://localhost:8060/api/v1/jobs \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $JWT" \
  -d '{
    "source_id": "uuid-from-source-manager",
    "url": "https://example.com",
    "interval_minutes": 360,
    "interval_type": "minutes",
    "schedule_enabled": true
  }'
curl -X POST http://localhost:8060/api/v1/jobs \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $JWT" \
  -d '{
    "source_id": "uuid-from-source-manager",
    "url": "https://example.com",
    "schedule_enabled": false
  }'
curl -X POST http://localhost:8060/api/v1/jobs/{id}/pause \
  -H "Authorization: Bearer $JWT"
curl -X POST http://localhost:8060/api/v1/jobs/{id}/retry \
  -H "Authorization: Bearer $JWT"
curl -X POST http://localhost:8060/api/v2/jobs/{id}/force-run \
  -H "Authorization: Bearer $JWT"
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/scheduler/metrics
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/scheduler/distribution
curl -X POST http://localhost:8060/api/v1/jobs \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $JWT" \
  -d '{
    "source_id": "uuid-from-source-manager",
    "url": "https://example.com/news",
    "interval_minutes": 360,
    "interval_type": "minutes",
    "schedule_enabled": true,
    "max_retries": 3,
    "retry_backoff_seconds": 60
  }'
curl -X POST http://localhost:8060/api/v1/jobs \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $JWT" \
  -d '{
    "source_id": "uuid-from-source-manager",
    "url": "https://example.com/news",
    "schedule_enabled": false
  }'
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/scheduler/metrics
curl -H "Authorization: Bearer $JWT" http://localhost:8060/api/v1/scheduler/distribution
curl -X POST -H "Authorization: Bearer $JWT" \
  http://localhost:8060/api/v1/scheduler/rebalance/preview
curl -X POST -H "Authorization: Bearer $JWT" \
  http://localhost:8060/api/v1/scheduler/rebalance
"""
"""Every curl of the contract's own guide, word for word and in its order."""


def test_29_with_redis_search_and_the_html_archive_away_a_job_is_done_all_the_same(place: Place):
    away = 'redis = "redis://127.0.0.1:1/0"\nsearch = "http://127.0.0.1:1"\nsource_events = true\n'
    archive = 'html_archive = "s3://pages?endpoint=http%3A%2F%2F127.0.0.1%3A1&access_key_id=a&secret_access_key=b"\n'
    place = replace(place, engines={name: url for name, url in place.engines.items() if name != "redis"})
    with stories(pages=5) as site, quick(place, QUICK + away + archive) as (it, client):
        site.body = ARTICLE
        made = job(client, site)
        wait_until(lambda: client.get(f"/api/v1/jobs/{made}")["status"] == "completed", "its end")
        wait_until(lambda: _paused_for(it.log.read_text(), "search"), "a word about the index")
        told = client.get("/health")
        assert told["status"] == "degraded"
        assert {name for name, check in told["checks"].items() if check["status"] == "degraded"} == {"redis", "search"}
        [run] = client.runs(made)
        assert (run["items_crawled"], run["metadata"]["crawl_metrics"]["status_codes"]) == (5, {"200": 5})
        it.process.send_signal(signal.SIGTERM)
        assert it.process.wait(PATIENCE) == 0, "after it has waited for the archive for a while"
        logged = [json.loads(line) for line in it.log.read_text().splitlines()]
    waits = Counter(
        line["error"].split(" cannot ")[0] for line in logged if line["message"] == "chore paused, engine unavailable"
    )
    apart = {"source events": 1, "fetchbox.jobs.tasks": 1, "streams of manifests": 1, "search": 1, "Redis": 1}
    assert waits == apart, "each is logged once"


def _paused_for(text: str, engine: str) -> bool:
    """Return true if a loop logged that it waits for an engine; alerts name the engine as well."""
    return any("chore paused" in line and f"{engine} cannot be used" in line for line in text.splitlines())


class Guide:
    """A user who types the commands of the guide, in order, with its port replaced by the test's."""

    def __init__(self, it: Up, client: Client, home: Path) -> None:
        port = it.where.rpartition(":")[2]
        (home / ".curlrc").write_text(f'silent\nfail-with-body\nconnect-to = "localhost:8060:127.0.0.1:{port}"\n')
        self._surroundings = surroundings({"JWT": client.token, "CURL_HOME": str(home)})
        self.commands = re.split(r"^(?=curl )", GUIDE.strip(), flags=re.MULTILINE)[1:]

    def next(self, job: str = "") -> Any:
        """Return the answer of the next command, which must succeed."""
        command = self.commands.pop(0).replace("{id}", job)
        told = subprocess.run(["sh", "-c", command], env=self._surroundings, capture_output=True, check=False)
        assert told.returncode == 0, (command, told)
        return json.loads(told.stdout)


def test_the_commands_of_the_guide_work_as_written(place: Place, tmp_path: Path):
    with quick(place, 'poll = "1h"\n') as (it, client):
        guide = Guide(it, client, tmp_path)
        assert guide.next()["status"] == "healthy"
        assert guide.next()["jobs"] == []
        assert guide.next()["executions"]["total"] == 0
        again, once = guide.next()["id"], guide.next()["id"]
        # The source is unknown: runs fail at once, and are retried in a minute.
        wait_until(lambda: client.get(f"/api/v1/jobs/{again}")["current_retry_count"] == 1, "a failed run")
        wait_until(lambda: client.get(f"/api/v1/jobs/{once}")["current_retry_count"] == 1, "another one")
        assert guide.next(again)["status"] == "paused"
        assert client.http.post(f"/api/v1/jobs/{again}/retry").status_code == 400
        assert client.http.post(f"/api/v2/jobs/{again}/force-run").status_code == 400
        gives_up = client.post("/api/v1/jobs", {"source_id": "nobody", "url": "https://example.com", "max_retries": 0})
        wait_until(lambda: client.get(f"/api/v1/jobs/{gives_up['id']}")["status"] == "failed", "the end of its retries")
        assert guide.next(gives_up["id"])["status"] == "pending"
        assert guide.next(once)["job_id"] == once
        wait_until(lambda: len(client.runs(once)) == 2 and len(client.runs(gives_up["id"])) == 2, "what was asked for")
        assert guide.next()["executions"]["total"] >= 5
        assert guide.next()["window_hours"] == 24
        assert guide.next()["id"] == again, "a source has one recurring job"
        news = guide.next()
        assert (news["url"], news["status"]) == ("https://example.com/news", "pending")
        wait_until(lambda: len(client.runs(news["id"])) == 1, "the last one")
        assert guide.next()["executions"]["total"] >= 6
        assert guide.next()["distribution_score"] <= 1
        previewed, applied = guide.next(), guide.next()
        assert (applied["moves"], applied["jobs_updated"]) == (previewed["moves"], previewed["total_moves"])
        assert guide.commands == []
        logs = f"/api/v1/jobs/{news['id']}/logs"
        wait_until(lambda: client.get(logs)["executions"][0]["log_available"], "the log of a run that never began")
        said = [(line["message"], line["fields"]["error"]) for line in client.get(f"{logs}/view")["lines"]]
        assert said == [(text, "source not found: uuid-from-source-manager") for text in NEVER_BEGAN]
        it.stop()
