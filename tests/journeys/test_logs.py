"""A run's log across processes: one works and writes, another serves it to clients."""

import asyncio
import json
import signal
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.cli.conftest import running
from tests.journeys.place import LOOPBACK, PATIENCE, Place, wait_until
from tests.servers.postgres import apart
from tests.web import running_site

PAGES = 60


async def followed(address: str, token: str, run: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return every line of a run, resumed after each five lines, and the event about its archive."""
    lines: list[dict[str, Any]] = []
    headers, event = {"Authorization": f"Bearer {token}", "Last-Event-ID": "0-0"}, ""
    async with httpx.AsyncClient(base_url=address, verify=False, timeout=PATIENCE) as client:
        while True:
            got = 0
            path = f"/api/v1/jobs/{run}/logs/stream/v2"
            async with client.stream("GET", path, headers=headers) as answer:
                assert answer.status_code == 200
                async for line in answer.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        headers["Last-Event-ID"] = value
                    elif name == "event":
                        event = value
                    elif name == "data" and event == "log:line":
                        lines.append(json.loads(value))
                        got += 1
                    elif name == "data" and event == "log:archived":
                        return lines, json.loads(value)
                    if got == 5:
                        break


def test_the_log_of_a_worker_is_followed_at_another_process(place: Place, tmp_path: Path):
    chatty = LOOPBACK | {"JOB_LOGS_VERBOSITY": "debug"}
    with running_site(pages=PAGES, delay=0.005) as site:
        place.give_work(site)
        run: str = place.value("SELECT uid FROM runs")
        token = Tokens(jwt_secret(place.settings), lambda: 4_000_000_000_000).issue("admin", "me", 3600)
        with (
            running(tmp_path, "api", "--port", "0", *place.flags) as api,
            running(tmp_path, "worker", *place.flags, **chatty) as worker,
        ):
            assert api.stdout
            address = api.stdout.readline().split(" listens on ")[1].split()[0]
            lines, archived = apart(partial(_in_time, address, token, run))
            for process in (worker, api):
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)
                assert process.returncode == 0
    fetched = [line["fields"]["url"] for line in lines if line["message"] == "page fetched"]
    assert sorted(fetched) == sorted(site.page_urls)
    assert (lines[0]["message"], lines[-1]["message"]) == ("run started", "run completed")
    assert lines[-1]["fields"]["pages"] == PAGES
    assert archived["line_count"] == len(lines)
    assert archived["object_key"] == f"logs/{run}/1.log.gz"


async def _in_time(address: str, token: str, run: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return await asyncio.wait_for(followed(address, token, run), PATIENCE)


def test_a_stop_in_the_middle_writes_the_last_words(embedded: Place, tmp_path: Path):
    chatty = LOOPBACK | {"JOB_LOGS_VERBOSITY": "debug"}
    with running_site(pages=400) as site:
        site.hold(after=40)
        embedded.give_work(site)
        with running(tmp_path, "worker", *embedded.flags, **chatty) as worker:
            wait_until(lambda: len(site.requests) > 40, "forty visits")
            worker.send_signal(signal.SIGTERM)
            site.let_go()
            worker.communicate(timeout=PATIENCE)
    fetched = "SELECT COUNT(*) FROM entries WHERE message = 'page fetched'"
    assert 0 < embedded.value(fetched) == embedded.value("SELECT completed FROM runs_now")
