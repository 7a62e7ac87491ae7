"""Items sent to a table and to a webhook through outages and kills: each arrives, in order, under one id."""

import base64
import json
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import asyncpg

from longline.model.sinks.webhook_signature import read_secret, signature
from tests.journeys.place import Place, wait_until
from tests.journeys.test_intervals import QUICK, Client, quick
from tests.servers import program
from tests.servers.postgres import apart
from tests.web import running_site, shop

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
PER_PAGE = 50
PARSER = """from longline.plugins import Item, Link, parser

@parser("rows")
def rows(page):
    for href in page.links("a"):
        yield Link(href)
    for row in page.css("li"):
        yield Item("row", number=int(row.text()), url=page.url + "#" + row.text())
"""
SINK = """from longline.plugins import sink

@sink("lines")
def write_lines(url, items):
    with open("lines.txt", "a") as file:
        file.writelines(f"{item.id} {item.fields['number']}\\n" for item in items)
"""


class Receiver:
    """A webhook that can die and return on its port; it records its confirmed and broken requests."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int, int]] = []
        self.bad_signatures = 0
        self.deaths: list[int] = []
        self.away_seconds = 0.0
        self.dead_until = 0.0
        self._lock = threading.Lock()

    def take(self, headers: Any, body: bytes) -> bool:
        """Keep a message; return False for one during which the receiver dies, with the message kept or not."""
        with self._lock:
            if time.monotonic() < self.dead_until:
                return False
            at = int(headers["webhook-timestamp"])
            wanted = signature(read_secret(SECRET), headers["webhook-id"], at, body)
            self.bad_signatures += headers["webhook-signature"] != wanted
            data = json.loads(body)["data"]
            self.seen.append((headers["webhook-id"], data["run"], data["position"], data["fields"]["number"]))
            if self.deaths and len(self.seen) >= self.deaths[0]:
                self.deaths.pop(0)
                self.dead_until = time.monotonic() + self.away_seconds
                return False  # the message is kept, and its sender never learns that
            return True


@contextmanager
def running_receiver() -> Iterator[tuple[Receiver, str]]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if receiver.take(self.headers, body):
                self.send_response(204)
                self.end_headers()
            else:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield receiver, f"http://127.0.0.1:{server.server_port}/items#{SECRET}"
        server.shutdown()
        thread.join()


def open_rows(site: Any, count: int) -> None:
    """Put pages with numbered rows on a site, and a first page that links to all of them."""
    pages = range(count // PER_PAGE)
    site.site.extra["/"] = "".join(f'<a href="/rows/{n}">{n}</a>' for n in pages).encode()
    for n in pages:
        rows = "".join(f"<li>{n * PER_PAGE + i}</li>" for i in range(PER_PAGE))
        site.site.extra[f"/rows/{n}"] = f"<title>Rows</title><ul>{rows}</ul>".encode()


def table_rows(url: str) -> list[tuple[str, int, int, int]]:
    async def read() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            found: list[Any] = await connection.fetch(
                "SELECT id, run, position, (fields->>'number')::int FROM rows ORDER BY run, position"
            )
            return found
        finally:
            await connection.close()

    return [tuple(row) for row in apart(read)]


def in_order(seen: list[tuple[str, int, int, int]]) -> bool:
    """Return true if the first arrivals of all items have the order of their runs."""
    first = {id_: (run, position) for id_, run, position, _ in reversed(seen)}
    order = [first[id_] for id_ in dict.fromkeys(id_ for id_, *_ in seen)]
    return order == sorted(order)


def received(receiver: Receiver, goal: int) -> bool:
    return len(receiver.seen) >= goal


def deliver(folder: Path, postgres_url: str, count: int, away_seconds: float) -> tuple[int, int]:
    """Send items through two deaths of the receiver and two kills of the platform; return messages and duplicates."""
    (folder / "rows.py").write_text(PARSER)
    with running_site(pages=0) as site, running_receiver() as (receiver, hook):
        open_rows(site, count)
        receiver.deaths, receiver.away_seconds = [count // 5, count // 2], away_seconds
        words = [
            "crawl",
            site.url,
            "--parsers",
            "rows.py",
            "--out",
            "data",
            "--to",
            f"{postgres_url}/rows",
            "--to",
            hook,
        ]
        for goal in (count // 4, count * 3 // 4):
            with program.Program(words, cwd=folder, stdout=subprocess.DEVNULL) as crawl:
                wait_until(partial(received, receiver, goal), f"{goal} messages")
                crawl.send_signal(signal.SIGKILL)
                crawl.wait()
        done = program.run(*words, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert SECRET not in done.stdout + done.stderr
        assert "all items were delivered to " in done.stdout
    assert receiver.bad_signatures == 0
    assert receiver.deaths == []
    by_id = {id_: number for id_, _, _, number in receiver.seen}
    assert sorted(by_id.values()) == list(range(count))
    assert in_order(receiver.seen)
    rows = table_rows(postgres_url)
    assert sorted(number for *_, number in rows) == list(range(count))
    repeats = Counter(id_ for id_, *_ in receiver.seen)
    return len(receiver.seen), sum(times - 1 for times in repeats.values())


def test_every_item_arrives_through_outages_and_kills(tmp_path: Path, postgres_url: str):
    messages, duplicates = deliver(tmp_path, postgres_url, count=500, away_seconds=1.5)
    assert messages == 500 + duplicates
    assert 2 <= duplicates <= 100, "one for each death of the receiver, and at most a batch for each kill"


def test_the_command_of_the_manual_works_as_it_stands(tmp_path: Path, postgres_url: str):
    manual = (Path(__file__).parents[2] / "docs/how-to/sinks.md").read_text(encoding="utf-8")
    line, listing = re.findall(r"```sh\n(.*?)\n```", manual, re.DOTALL)
    (tmp_path / "books.py").write_text(shop.PARSER)
    (view,) = re.findall(r"```sql\n(.*?)```", manual, re.DOTALL)
    with running_site(pages=0) as site:
        shop.open_shop(site)
        line = line.replace("https://books.example/", site.url).replace("postgresql://me@db.example/shop", postgres_url)
        done = program.run(*shlex.split(line)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = program.run(*shlex.split(listing)[1:], "--data", "books", cwd=tmp_path)
    assert "has everything" in shown.stdout, shown.stderr
    prices = apart(partial(read_view, postgres_url, view))
    assert sorted(prices) == [shop.price_of(n) for n in range(1, shop.BOOKS + 1)]


async def read_view(url: str, view: str) -> list[float]:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(view)
        return [float(row["price"]) for row in await connection.fetch("SELECT price FROM prices WHERE price > 0")]
    finally:
        await connection.close()


def test_a_platform_sends_the_items_of_all_runs_to_a_function(tmp_path: Path):
    (tmp_path / "rows.py").write_text(PARSER)
    (tmp_path / "lines.py").write_text(SINK)
    with running_site(pages=0) as site:
        open_rows(site, 100)
        done = program.run("crawl", site.url, "--parsers", "rows.py", "--out", "data", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    words = ["worker", "--roles", "upkeep", "--data", "data"]
    env = {"LONGLINE_SINKS": "lines://here", "LONGLINE_PARSERS": "rows.py,lines.py"}
    lines = tmp_path / "lines.txt"
    with program.Program(words, cwd=tmp_path, env=os.environ | env, stdout=subprocess.DEVNULL) as worker:
        wait_until(lambda: lines.exists() and len(lines.read_text().splitlines()) == 100, "all items")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert sorted(int(line.split()[1]) for line in lines.read_text().splitlines()) == list(range(100))


def test_sources_send_to_the_sinks_that_they_name_and_no_secret_is_shown(embedded: Place):
    folder = embedded.data.parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.py").write_text(PARSER)
    (folder / "lines.py").write_text(SINK)
    key = base64.b64encode(b"canary-of-24-bytes-or-more").decode()
    away = f"http://me:canary-password@127.0.0.1:9/in?token=canary-token#whsec_{key}"
    setting = json.dumps(["lines=lines://me:canary-user@here/?key=canary-key", f"hook={away}"])
    lines = folder / "lines.txt"
    with running_site(pages=0) as site:
        open_rows(site, 100)
        toml = f'{QUICK}parsers = ["rows.py", "lines.py"]\nsinks = {setting}\n'
        with quick(embedded, toml) as (it, client):
            for name, sinks in (("quiet", []), ("loud", ["lines", "hook"])):
                facts = {"name": name, "url": site.url, "parser": "rows", "sinks": sinks}
                source = client.post("/api/v1/sources", facts)["id"]
                job = client.post("/api/v1/jobs", {"source_id": source, "url": site.url, "max_retries": 0})["id"]
                wait_until(lambda job=job: ended(client, job), f"the end of {name}")  # type: ignore[misc]
            wait_until(lambda: lines.exists() and len(lines.read_text().splitlines()) >= 100, "all items")
            wait_until(lambda: 'longline_sink_failures{id="2"' in client.http.get("/metrics").text, "a failure")
            shown = client.http.get("/metrics").text + client.http.get("/api/v1/sources").text
            assert re.search(r'longline_sink_waiting_items\{id="1",sink="lines://here/"\} 0\.0', shown)
            assert re.search(r'longline_sink_waiting_items\{id="2",sink="http://127.0.0.1:9/in"\} 100\.0', shown)
            shown += client.http.get("/health").text + client.http.get("/api/v1/sources?search=loud").text
            listed = program.run("sinks", "list", *embedded.flags, cwd=folder)
            shown += listed.stdout + it.stop()
    assert "hook\thttp://127.0.0.1:9/in\t100\t0" in shown, listed.stderr
    assert "sink failed, delivery is tried again" in shown
    assert "canary" not in shown
    assert key not in shown
    found = [line.split()[0].split("-")[1:] for line in lines.read_text().splitlines()]
    assert len({run for run, _ in found}) == 1, "the items are of one run"
    assert [int(position) for _, position in found] == sorted({int(position) for _, position in found})


def ended(client: Client, job: str) -> bool:
    return [run["status"] for run in client.runs(job)] == ["completed"]


def test_a_sink_that_cannot_be_used_is_refused_before_anything_is_fetched(tmp_path: Path):
    for url, told in (
        ("kafka://a.example/x", "there is no sink for kafka://"),
        ("https://a.example/hook", "needs a secret to sign with"),
        ("postgresql://u:pass@a.example/db", "needs database and table"),
    ):
        done = program.run("crawl", "http://127.0.0.1:9/", "--out", "data", "--to", url, cwd=tmp_path)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
        assert "pass" not in done.stderr
        assert list(tmp_path.iterdir()) == [], "no folder is left behind"
