"""Politeness over processes that die or whose wall clocks jump: workers on one database, judged by the website.

`python -m tests.chaos.politeness` runs the large form and prints its figures.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import orjson

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from tests.drivers.records.peek import Peek
from tests.plans import crawl_plan
from tests.servers import running_postgres
from tests.servers.program import Program

LEASE = "3s"
SUMS = {
    "pages": "SELECT COUNT(*) FROM pages",
    "urls": "SELECT COUNT(DISTINCT url) FROM pages",
    "records": "SELECT COALESCE(SUM(records), 0) FROM segments WHERE state = 'stored'",
    "queue": "SELECT COUNT(*) FROM queue",
    "held": "SELECT COUNT(*) FROM line WHERE owner IS NOT NULL",
    "lapses": "SELECT SUM(lapses) FROM line",
}


@dataclass(frozen=True)
class Group:
    """Hosts with the same delay and concurrency."""

    hosts: int
    pages: int
    delay_ms: int
    concurrency: int
    retry_after: int = 0
    """Seconds in the Retry-After of every fifth page, at the first request."""

    def path(self, page: int) -> str:
        """Return the path of a page."""
        return f"/wait{self.retry_after}/p{page}" if self.retry_after and page % 5 == 0 else f"/p{page}"


@dataclass(frozen=True)
class Trouble:
    """The faults of workers: at these intervals in seconds one is killed, or its wall clock is set to another hour."""

    kill_every: float = float("inf")
    jump_every: float = float("inf")

    @property
    def every(self) -> float:
        """Return the seconds between two faults of any kind."""
        return min(self.kill_every, self.jump_every)


LARGE = (Group(40, 400, 0, 4), Group(80, 250, 50, 1), Group(60, 200, 100, 2), Group(20, 100, 250, 1))
SMALL = (Group(6, 60, 0, 4), Group(10, 40, 50, 1), Group(4, 20, 100, 2))
WAITING = (Group(10, 60, 100, 1), Group(6, 60, 100, 2), Group(6, 15, 50, 1, retry_after=2))

Visit = tuple[str, str, float, float, int]
"""Host, path, start, end, and the seconds of the Retry-After of the response."""


@dataclass
class Verdict:
    """The results in the website's log and the database."""

    requests: int = 0
    kills: int = 0
    jumps: int = 0
    seconds: float = 0.0
    smallest_slack_ms: float = float("inf")
    too_soon: list[tuple[str, float, int, float]] = field(default_factory=list)
    """Host, gap, delay, and the greatest lateness of the earlier request of the two: the rest of the gap before it."""
    too_many: list[tuple[str, int, int]] = field(default_factory=list)
    impatient: list[tuple[str, float, int]] = field(default_factory=list)
    missing: int = 0
    refetched: int = 0
    rows: dict[str, object] = field(default_factory=dict)
    lag_ms: float = 0.0
    """The greatest lateness of a sleeper: a request may wait that long between the worker and the website."""

    @property
    def proved_too_soon(self) -> list[tuple[str, float, int, float]]:
        """Return the gaps that are too short by more than the machine's lag, or by more than half of the delay.

        A gap that is shorter still proves nothing if the earlier request was late by the missing time: a request that
        the machine held up lengthens the gap before it as much as it shortens the gap after it.
        """
        return [
            (host, gap, delay, late)
            for host, gap, delay, late in self.too_soon
            if delay - gap > min(self.lag_ms, max(late, delay / 2))
        ]


@contextmanager
def measured_lag(verdict: Verdict) -> Iterator[None]:
    """Measure the delay with which the machine wakes a process that sleeps for a millisecond at a time."""
    sleeper = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield
    finally:
        told, _ = sleeper.communicate(timeout=30)
        verdict.lag_ms = float(told)


SLEEPER = """
import select, sys, time
worst = 0.0
while True:
    begun = time.monotonic()
    if select.select([sys.stdin], [], [], 0.001)[0]:
        break
    worst = max(worst, time.monotonic() - begun - 0.001)
print(worst * 1000)
"""
"""A program that sleeps until its input ends, and then prints its greatest lateness in milliseconds."""


@contextmanager
def running_origin(think: float, pages: int = 0) -> Iterator[int]:
    """Run the website as a process, and yield its port on every loopback address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.origin", "--think", str(think), "--pages", str(pages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def address(group: int, host: int) -> str:
    """Return the loopback address of one host of one group."""
    return f"127.0.{group + 1}.{host + 1}"


async def fill(records: Records, groups: tuple[Group, ...], port: int) -> None:
    """Start one run for each group, with every page of its hosts as a seed."""
    lifecycle = Lifecycle(records)
    for number, group in enumerate(groups):
        hosts = [f"http://{address(number, h)}:{port}" for h in range(group.hosts)]
        urls = [host + group.path(p) for host in hosts for p in range(group.pages)]
        plan = crawl_plan((), delay_ms=group.delay_ms, concurrency=group.concurrency, max_attempts=50)
        run = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, plan.text()))
        await lifecycle.move(MoveRequest("run", run.id, "start", "worker", owner=1, lease_ms=3_600_000))
        for first in range(0, len(urls), 500):
            seeds = [seed(url, run.id, plan) for url in urls[first : first + 500]]
            await lifecycle.admit([task for task, _ in seeds], sorted({host for _, host in seeds}))


class Crew:
    """Worker processes, each as on a machine of its own: none can see that another is dead.

    Each has a wall clock of its own, too.
    """

    def __init__(self, database: str, folder: Path) -> None:
        self._database, self._folder = database, folder
        self._workers: list[subprocess.Popen[bytes]] = []
        self._clocks: dict[int, Path] = {}
        self._made = 0

    def hire(self) -> None:
        """Start one more."""
        self._made += 1
        own = self._folder / f"machine{self._made}"
        environment = os.environ | {
            "LONGLINE_LEASE": LEASE,
            "LONGLINE_DATA": str(own),
            "LONGLINE_DATABASE": self._database,
            "LONGLINE_OBJECTS": (self._folder / "objects").as_uri(),
            "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
            "LONGLINE_LOG_LEVEL": "error",
            "JUMP_FILE": str(self._folder / f"jump{self._made}"),
        }
        worker = Program(["worker"], environment, "tests.chaos.jumping")
        self._workers.append(worker)
        self._clocks[worker.pid] = Path(environment["JUMP_FILE"])

    def set_a_clock(self) -> None:
        """Set the wall clock of one of them an hour forward or back, or right again."""
        file = self._clocks[random.choice(self._workers).pid]
        before = int(file.read_text()) if file.exists() else 0
        fresh = file.with_suffix(".new")
        fresh.write_text(str(random.choice([hour for hour in (-3600, 0, 3600) if hour != before])))
        fresh.replace(file)

    def kill_one(self) -> None:
        """Kill one of them with SIGKILL, and start another."""
        victim = self._workers.pop(random.randrange(len(self._workers)))
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.hire()

    async def settle_in(self, records: Records) -> None:
        """Wait until all workers have started: one that has not would die of the signal that stops it."""
        missing = {worker.pid for worker in self._workers}
        async with asyncio.timeout(120):
            while missing:
                missing -= {int(worker.name.rpartition(":")[2]) for worker in await records.workers.find()}
                await asyncio.sleep(0.1)

    def dismiss(self) -> list[int]:
        """Stop all workers, and return their exit codes."""
        for worker in self._workers:
            worker.terminate()
        return [worker.wait(timeout=120) for worker in self._workers]


async def storm(groups: tuple[Group, ...], *, workers: int, trouble: Trouble, most_seconds: float) -> Verdict:
    """Run it all on a PostgreSQL of its own, and judge."""
    with running_postgres(durable=True) as server:
        url = await server.create_database()
        return await storm_on(url, groups, workers=workers, trouble=trouble, most_seconds=most_seconds)


async def storm_on(
    url: str, groups: tuple[Group, ...], *, workers: int, trouble: Trouble, most_seconds: float
) -> Verdict:
    """Run it all on an empty database, and judge."""
    verdict = Verdict()
    with running_origin(0.005) as port, tempfile.TemporaryDirectory() as folder, measured_lag(verdict):
        records = await open_records(url, SystemClock())
        await records.schema.migrate()
        await fill(records, groups, port)
        crew = Crew(url, Path(folder))
        begun = time.monotonic()
        for _ in range(workers):
            crew.hire()
        await make_trouble(verdict, records, crew, trouble, begun + most_seconds)
        verdict.seconds = time.monotonic() - begun
        await crew.settle_in(records)
        verdict.rows["exits"] = crew.dismiss()
        judge(verdict, await asyncio.to_thread(ask, port), groups)
        verdict.rows |= await look(records, url)
        await records.schema.close()
    return verdict


async def make_trouble(verdict: Verdict, records: Records, crew: Crew, trouble: Trouble, until: float) -> None:
    """Kill workers and set their clocks until no task is open."""
    kill_at = time.monotonic() + trouble.kill_every
    while (await records.tasks.counts())["open"] and time.monotonic() < until:
        await asyncio.sleep(min(trouble.every, 5.0) * random.uniform(0.6, 1.4))
        if not (await records.tasks.counts())["open"]:
            return
        if trouble.jump_every < float("inf"):
            crew.set_a_clock()
            verdict.jumps += 1
        if time.monotonic() > kill_at:
            kill_at = time.monotonic() + trouble.kill_every * random.uniform(0.6, 1.4)
            crew.kill_one()
            verdict.kills += 1


def ask(port: int) -> list[Visit]:
    """Return all requests that the website recorded."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/__visits", timeout=60) as answer:
        visits: list[Visit] = orjson.loads(answer.read())
        return visits


def judge(verdict: Verdict, visits: list[Visit], groups: tuple[Group, ...]) -> None:
    """Compare the requests of every host with its delay and concurrency."""
    by_host: defaultdict[str, list[Visit]] = defaultdict(list)
    for visit in visits:
        by_host[visit[0]].append(visit)
    verdict.requests = len(visits)
    for number, group in enumerate(groups):
        for host in (address(number, h) for h in range(group.hosts)):
            _judge_host(verdict, host, by_host[host], group)


def _judge_host(verdict: Verdict, host: str, seen: list[Visit], group: Group) -> None:
    starts = sorted(start for _, _, start, _, _ in seen)
    late = 0.0
    for before, after in pairwise(starts):
        slack = (after - before) * 1000 - group.delay_ms
        if group.delay_ms:
            verdict.smallest_slack_ms = min(verdict.smallest_slack_ms, slack)
        if slack < 0:
            verdict.too_soon.append((host, (after - before) * 1000, group.delay_ms, late))
        late = max(slack, 0.0)
    for _, _, _, asked, wait in seen:
        waited = min((start - asked for start in starts if start > asked), default=float("inf"))
        if waited < wait:
            verdict.impatient.append((host, waited, wait))
    edges = sorted([(visit[2], 1) for visit in seen] + [(visit[3], -1) for visit in seen])
    busy = most = 0
    for _, step in edges:
        busy += step
        most = max(most, busy)
    if most > group.concurrency:
        verdict.too_many.append((host, most, group.concurrency))
    pages = Counter(path for _, path, _, _, wait in seen if path != "/robots.txt" and not wait)
    verdict.missing += sum(group.path(p) not in pages for p in range(group.pages))
    verdict.refetched += sum(count - 1 for count in pages.values())


async def look(records: Records, url: str) -> dict[str, object]:
    """Return the sums of the database, and the counts of rows that should not be there."""
    peek = Peek(url)
    try:
        return {
            "states": {r.state: r.open for r in await records.runs.find()},
            "counts": await records.tasks.counts(),
            **{name: int((await peek.rows(sql))[0][0]) for name, sql in SUMS.items()},
        }
    finally:
        await peek.close()


def main() -> None:
    """Run the large form from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=4.0)
    parser.add_argument("--jump-every", type=float, default=float("inf"))
    parser.add_argument("--waiting", action="store_true", help="hosts that answer with a Retry-After as well")
    parser.add_argument("--most-seconds", type=float, default=1800.0)
    given = parser.parse_args()
    groups = (SMALL if given.small else LARGE) + (WAITING[2:] if given.waiting else ())
    trouble = Trouble(given.kill_every, given.jump_every)
    verdict = asyncio.run(storm(groups, workers=given.workers, trouble=trouble, most_seconds=given.most_seconds))
    print(f"{verdict.requests} requests in {verdict.seconds:.0f} s, {verdict.kills} kills, {verdict.jumps} jumps")
    print(f"gaps below the delay: {len(verdict.too_soon)} {verdict.too_soon[:10]}")
    print(f"lag of the machine: {verdict.lag_ms:.1f} ms")
    print(f"smallest slack: {verdict.smallest_slack_ms:.2f} ms")
    print(f"hosts over their concurrency: {len(verdict.too_many)} {verdict.too_many[:10]}")
    print(f"requests before the end of a Retry-After: {len(verdict.impatient)} {verdict.impatient[:10]}")
    print(f"pages never asked for: {verdict.missing}; asked for more than once: {verdict.refetched}")
    print(verdict.rows)


if __name__ == "__main__":
    main()
