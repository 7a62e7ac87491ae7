"""Clients that make changes over HTTP while processes are killed at random; then the rows are checked.

By hand: `python -m tests.chaos.outsider 60` for that many seconds on SQLite, with `postgres` as the second word on a
server of its own.
"""

import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench.usage import processes
from longline.services.callers.tokens import Tokens
from tests.drivers.records.peek import Peek
from tests.drivers.records.references import dangling
from tests.servers import running_postgres
from tests.servers.program import Program
from tests.web import SiteHandle, running_site

SECRET = "s" * 64
BOTS = "/api/crawl/admin"
CALM_SECONDS = 120.0
"""Seconds in which each open run must end after the last kill."""

MIN_CHANGES = 20
"""Smallest number of changes that are acknowledged before the storm ends."""

JUDGEMENTS = {
    "counters of a run that are not those of its tasks": """
        SELECT r.id, c.admitted, c.completed, c.failed, c.cancelled, c.skipped, COUNT(t.id)
        FROM runs r JOIN run_counts c ON c.run_id = r.id LEFT JOIN tasks t ON t.run_id = r.id
        GROUP BY r.id, c.admitted, c.completed, c.failed, c.cancelled, c.skipped
        HAVING c.admitted <> COUNT(t.id)
            OR c.completed <> COALESCE(SUM(CASE WHEN t.state = 'completed' THEN 1 ELSE 0 END), 0)
            OR c.failed <> COALESCE(SUM(CASE WHEN t.state = 'failed' THEN 1 ELSE 0 END), 0)
            OR c.cancelled <> COALESCE(SUM(CASE WHEN t.state = 'cancelled' THEN 1 ELSE 0 END), 0)
            OR c.skipped <> COALESCE(SUM(CASE WHEN t.state = 'skipped' THEN 1 ELSE 0 END), 0)""",
    "tasks that ended and are queued or offered": """
        SELECT t.id, t.state FROM tasks t WHERE t.state IN ('completed', 'failed', 'cancelled', 'skipped')
        AND (EXISTS (SELECT 1 FROM queue q WHERE q.id = t.id) OR EXISTS (SELECT 1 FROM offers o WHERE o.id = t.id))""",
    "open tasks that no worker can find": """
        SELECT t.id, t.state FROM tasks t
        WHERE t.state IN ('pending', 'queued', 'crawling', 'downloaded', 'queued_parse', 'parsing')
        AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.id = t.id)
        AND NOT EXISTS (SELECT 1 FROM offers o WHERE o.id = t.id)""",
    "ended runs with open tasks": """
        SELECT r.id, r.state, c.open FROM runs r JOIN run_counts c ON c.run_id = r.id
        WHERE r.state IN ('completed', 'failed', 'cancelled') AND c.open > 0""",
    "leases of hosts after the end": "SELECT host_id, owner FROM line WHERE owner IS NOT NULL",
    "leases of runs after the end": "SELECT id, owner FROM runs WHERE owner IS NOT NULL",
    "leases of schedules after the end": "SELECT id, owner FROM schedules WHERE owner IS NOT NULL",
    "pages in segments that are not stored": """
        SELECT p.task_id FROM pages p JOIN segments s ON s.id = p.segment_id WHERE s.state <> 'stored'""",
    "completed fetches without a page": """
        SELECT t.id, t.url FROM tasks t JOIN runs r ON r.id = t.run_id
        WHERE t.state = 'completed' AND t.executor = 'fetch'
        AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.task_id = t.id) AND t.reason = 'ok' AND r.kind <> 'bots'""",
    "jobs that were made without an audit row": """
        SELECT s.uid FROM schedules s WHERE s.kind = 'crawl'
        AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.action = 'schedule.create' AND a.thing = s.uid)""",
    "audit rows of jobs that were not made": """
        SELECT a.thing FROM audit a WHERE a.action = 'schedule.create'
        AND NOT EXISTS (SELECT 1 FROM schedules s WHERE s.uid = a.thing)
        AND NOT EXISTS (SELECT 1 FROM audit d WHERE d.action = 'schedule.delete' AND d.thing = a.thing)""",
    "sources that were made without an audit row": """
        SELECT s.name FROM sources s WHERE NOT EXISTS (
            SELECT 1 FROM audit a WHERE a.action = 'source.create' AND a.thing IN (s.uid, s.name, s.ref))""",
}
"""Faults by the statement that finds them, on either engine."""


@dataclass
class Verdict:
    """The figures of a storm, and its faults."""

    answers: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


class Platform:
    """`longline up` with one more worker process at a fixed port, restarted after each death."""

    def __init__(self, database: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._environ = os.environ | {
            "LONGLINE_DATA": str(folder),
            "LONGLINE_DATABASE": database,
            "AUTH_JWT_SECRET": SECRET,
            "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
            "LONGLINE_LOG_LEVEL": "error",
            "LONGLINE_LEASE": "5s",
            "LONGLINE_SCHEDULE_LEASE": "5s",
            "LONGLINE_POLL": "1s",
            "LONGLINE_DELAY": "0s",
            "LONGLINE_RANDOM_DELAY": "0s",
        }
        self._log = (folder / "log").open("ab")
        self._process: Program | None = None

    def ensure(self) -> None:
        """Start the platform if it does not run."""
        if self._process is None or self._process.poll() is not None:
            words = ["up", "--port", str(self.port), "--workers", "2"]
            self._process = Program(words, self._environ, stdout=subprocess.DEVNULL, stderr=self._log)

    def kill_one(self, chance: random.Random) -> str:
        """Kill one process of the platform; return `main` for the first one, and `child` for one of its children."""
        self.ensure()
        assert self._process is not None
        main = self._process.pid
        victim = chance.choice([main, *(pid for pid in processes(main) if pid != main)])
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        if victim == main:
            self._process.wait()
        return "main" if victim == main else "child"

    def stop(self) -> int:
        """Stop the platform in good order; return its exit code."""
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(timeout=120)
        self._log.close()
        return code


class Client:
    """A client that makes, changes and deletes objects, and keeps the ids that were acknowledged."""

    def __init__(self, port: int, site: str, seed: int, verdict: Verdict) -> None:
        token = Tokens(SECRET, lambda: time.time_ns() // 10**6).issue("admin", f"user{seed}", 3600)
        self.http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}, timeout=20
        )
        self._site, self._chance, self._verdict, self._name = site, random.Random(seed), verdict, f"c{seed}"
        self._number = 0
        self.jobs: list[str] = []
        self.sources: list[str] = []
        self.bots: list[str] = []

    async def run(self, stop: asyncio.Event) -> None:
        """Make changes until the stop; connections that break are part of the storm."""
        deeds = (
            *(self.make_source, self.make_job, self.make_job, self.change_job, self.move_job, self.drop_job),
            *(self.make_bot, self.change_bot, self.make_bot_job, self.pull),
        )
        while not stop.is_set():
            try:
                await self._chance.choice(deeds)()
            except httpx.TransportError:
                self._verdict.answers["broken connection"] += 1
                await asyncio.sleep(0.1)

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.http.request(method, path, json=body)
        self._verdict.answers[f"{answer.status_code // 100}xx"] += 1
        if answer.status_code >= 500 and answer.status_code != 503:
            self._verdict.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer.json() if answer.is_success and answer.content else None

    def _next(self) -> str:
        self._number += 1
        return f"{self._name}n{self._number}"

    async def make_source(self) -> None:
        name = self._next()
        # All jobs share one host and its pace.
        body = {"name": name, "url": f"{self._site}?{name}", "rate_limit": "20ms", "max_depth": 2}
        made = await self._ask("POST", "/api/v1/sources", body)
        self.sources += [made["id"]] if made else []

    async def make_job(self) -> None:
        source = self._chance.choice(self.sources) if self.sources else "none"
        body = {"source_id": source, "url": self._site}
        made = await self._ask("POST", "/api/v1/jobs", body)
        self.jobs += [made["id"]] if made else []

    async def change_job(self) -> None:
        if self.jobs:
            body = {"source_name": self._next(), **self._chance.choice([{}, {"status": "cancelled"}])}
            await self._ask("PUT", f"/api/v1/jobs/{self._chance.choice(self.jobs)}", body)

    async def move_job(self) -> None:
        if self.jobs:
            move = self._chance.choice(["pause", "resume", "cancel", "retry"])
            await self._ask("POST", f"/api/v1/jobs/{self._chance.choice(self.jobs)}/{move}")

    async def drop_job(self) -> None:
        if len(self.jobs) > 5 and await self._ask("DELETE", f"/api/v1/jobs/{self.jobs[0]}"):
            del self.jobs[0]

    async def make_bot(self) -> None:
        name = self._next()
        if len(self.bots) < 5 and await self._ask("POST", f"{BOTS}/bots", {"bot_id": name, "name": name}):
            self.bots.append(name)

    async def change_bot(self) -> None:
        if self.bots:
            await self._ask("PATCH", f"{BOTS}/bots/{self._chance.choice(self.bots)}", {"description": self._next()})

    async def make_bot_job(self) -> None:
        await self._ask("POST", f"{BOTS}/jobs", {"url": f"https://{self._next()}.example/"})

    async def pull(self) -> None:
        await self._ask("POST", "/api/crawl/pull/", {"bot_id": "someone", "max_jobs": 3})


async def storm(database: str, folder: Path, seconds: float, seed: int = 1) -> Verdict:
    """Let clients make changes while processes are killed; return the check of the rows afterwards.

    On a busy machine it goes on until `MIN_CHANGES` were acknowledged.
    """
    verdict, chance, begun = Verdict(), random.Random(seed), time.monotonic()
    with running_site(pages=30) as site:
        platform = Platform(database, folder)
        platform.ensure()
        await _listening(platform.port)
        until = time.monotonic() + seconds
        stop = asyncio.Event()
        clients = [Client(platform.port, site.url, number, verdict) for number in range(4)]
        working = [asyncio.create_task(client.run(stop)) for client in clients]
        while time.monotonic() < until or verdict.answers["2xx"] < MIN_CHANGES:
            # A platform that is still being started would only be killed again.
            await _listening(platform.port)
            await asyncio.sleep(chance.uniform(0.1, 2.0))
            verdict.kills[await asyncio.to_thread(platform.kill_one, chance)] += 1
            platform.ensure()
        stop.set()
        await asyncio.gather(*working)
        for client in clients:
            await client.http.aclose()
        await _calm(database, platform, verdict)
        await _listening(platform.port)
        code = await asyncio.to_thread(platform.stop)
        verdict.faults += [f"the platform exited with {code}"] if code else []
        await _judge(database, site, verdict)
    verdict.seconds = time.monotonic() - begun
    return verdict


async def _listening(port: int) -> None:
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.1)


async def _calm(database: str, platform: Platform, verdict: Verdict) -> None:
    """Wait until every run of a schedule has ended; a lease that no process gives back would be found here.

    A fast machine leaves thousands of schedules that are due. Their runs follow each other, so each has its own time.
    """
    looking = Peek(database)
    seen: dict[int, float] = {}
    while True:
        platform.ensure()
        waiting = await looking.rows(
            "SELECT r.id, r.state, r.owner, r.adoptions, s.state, s.run_id, s.owner, s.lease_until, s.retries, c.open"
            " FROM runs r JOIN run_counts c ON c.run_id = r.id LEFT JOIN schedules s ON s.id = r.schedule_id"
            " WHERE r.schedule_id IS NOT NULL AND r.state IN ('queued', 'running')"
        )
        now = time.monotonic()
        seen = {row[0]: seen.get(row[0], now) for row in waiting}
        late = [row for row in waiting if now - seen[row[0]] > CALM_SECONDS]
        if late or not waiting:
            break
        await asyncio.sleep(0.5)
    verdict.faults += [f"runs go on for ever: {late[:5]}"] if late else []
    await looking.close()


async def _judge(database: str, site: SiteHandle, verdict: Verdict) -> None:
    looking = Peek(database)
    for fault, statement in JUDGEMENTS.items():
        found = await looking.rows(statement)
        verdict.faults += [f"{fault}: {len(found)}, such as {found[:3]}"] if found else []
    lost = await dangling(looking)
    verdict.faults += [f"rows that refer to nothing: {lost[:5]}"] if lost else []
    verdict.pages = int(await looking.value("SELECT COUNT(*) FROM pages"))
    done = "SELECT COUNT(*) FROM runs WHERE schedule_id IS NOT NULL AND state = 'completed'"
    if await looking.value(done) and not (verdict.pages and site.visits()):
        verdict.faults.append("runs completed without a page")
    await looking.close()


def main(words: list[str]) -> None:
    """Run a storm of so many seconds on the engine that is named, and print its verdict."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        where = f"sqlite:///{place}/longline.db"
        if words[1:2] == ["postgres"]:
            where = stack.enter_context(stack.enter_context(running_postgres(durable=True)).fresh_database())
        print(asyncio.run(storm(where, Path(place), float(words[0]), int(words[2]) if len(words) > 2 else 1)))


if __name__ == "__main__":
    main(sys.argv[1:])
