"""Jobs over processes that die: a platform on PostgreSQL, its processes killed, its database restarted without warning.

`python -m tests.chaos.adoption` runs the large form and prints its figures. The log of the website is the proof:
every page that it served is archived once, every job completes in its first execution, no execution begins at its first
page again, and no host gets a request sooner than its delay.
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
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from bench.usage import processes
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.sources.source import NewSource
from tests.chaos.politeness import ask, running_origin
from tests.journeys.place import Place
from tests.servers.program import Program
from tests.servers.restartable import RestartablePostgres, restartable_postgres

Visit = tuple[str, str, float, float, int]
"""Host, path, start and end of a request, by the website's log."""


class Size(NamedTuple):
    """The amount of work and the duration. Times are seconds.

    The number of `parsers` is killed as well. A page whose parser is killed twice in a row fails: in a small storm,
    where one parser has most of the pages, that is no rare case.
    """

    jobs: int
    pages: int
    delay: float
    seconds: float
    kills: int
    restarts: int
    workers: int = 3
    patience: float = 900.0
    parsers: int = 1


START_SECONDS = 15.0
"""Seconds in which a platform has certainly started."""

LARGE = Size(jobs=60, pages=100, delay=1.0, seconds=180, kills=39, restarts=2)
SMALL = Size(jobs=6, pages=12, delay=0.2, seconds=6, kills=3, restarts=1, workers=2, patience=90, parsers=0)


@dataclass
class Verdict:
    """The results in the website's log, the archive and the rows."""

    kills: Counter[str] = field(default_factory=Counter)
    restarts: int = 0
    seconds: float = 0.0
    requests: int = 0
    served: int = 0
    fetched_again: int = 0
    archived: int = 0
    archived_twice: int = 0
    not_archived: list[tuple[str, str]] = field(default_factory=list)
    never_served: int = 0
    executions: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    fates: dict[str, int] = field(default_factory=dict)
    began_again: list[str] = field(default_factory=list)
    too_soon: list[tuple[str, float]] = field(default_factory=list)
    smallest_gap: float = float("inf")
    stale_locks_cleared: int = 0
    exits: list[int] = field(default_factory=list)

    def faults(self, size: Size) -> list[str]:
        """Return every promise that was broken, in words."""
        pages = size.jobs * size.pages
        broken = {
            f"{len(self.not_archived)} pages were served and are not archived": self.not_archived,
            f"{self.archived_twice} pages are archived more than once": self.archived_twice,
            f"{pages - self.archived} pages are not archived": self.archived != pages,
            f"executions ended as {dict(self.executions)}": self.executions != {"completed": size.jobs},
            f"{len(self.began_again)} executions began again": self.began_again,
            f"{len(self.too_soon)} requests came too soon": self.too_soon,
            f"processes exited with {self.exits}": any(self.exits),
        }
        return [words for words, found in broken.items() if found]


def kind_of(pid: int, scheduler: int) -> str:
    """Return the role of a process of the platform."""
    if pid == scheduler:
        return "scheduler"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        words = []
    if b"worker" in words:
        return "worker"
    return "parser" if any(b"parser_process" in word for word in words) else "other"


class Platform:
    """`longline up` with its workers, restarted whenever it ends."""

    def __init__(self, place: Place, workers: int) -> None:
        self._place, self._workers = place, workers
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._log = (place.data.parent / "log").open("ab")

    def ensure(self) -> None:
        """Start the platform if it does not run."""
        if self._process is not None and self._process.poll() is None:
            return
        environment = os.environ | {
            "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
            "LONGLINE_LOG_LEVEL": "warning",
            "LONGLINE_POLL": "1s",
            "LONGLINE_LEASE": "10s",
            "LONGLINE_RANDOM_DELAY": "0s",
        }
        words = ["up", "--port", "0", "--workers", str(self._workers), *self._place.flags]
        self._process = Program(words, environment, stdout=subprocess.DEVNULL, stderr=self._log)
        self._started = time.monotonic()

    def kill_one(self, parsers: int) -> str:
        """Kill the scheduler's process, a worker's, or one of that many parsers'; return its kind."""
        wanted = random.choice(["scheduler", *["worker"] * (self._workers - 1), *["parser"] * parsers])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.ensure()
            assert self._process is not None
            alive = [pid for pid in processes(self._process.pid) if kind_of(pid, self._process.pid) == wanted]
            # A platform that has just been started has no workers yet.
            if alive and self._kill(random.choice(alive)):
                return wanted
            time.sleep(0.05)
        raise TimeoutError(f"the platform has no {wanted}")

    def _kill(self, victim: int) -> bool:
        assert self._process is not None
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:  # the process ended between the list and the kill
            return False
        if victim == self._process.pid:
            self._process.wait()
        return True

    def stop(self) -> int:
        """Stop the platform in good order; return its exit code."""
        assert self._process is not None
        # A process that is still being started has no handler for the signal yet.
        time.sleep(max(0.0, self._started + START_SECONDS - time.monotonic()))
        self._process.terminate()
        code = self._process.wait(timeout=120)
        self._log.close()
        return code


async def storm(size: Size, folder: Path) -> Verdict:
    """Run it all and judge."""
    verdict = Verdict()
    with restartable_postgres() as server, running_origin(0.005, size.pages) as port:
        url = await server.server.create_database()
        place = Place(folder / "data", {"database": url, "objects": (folder / "objects").as_uri()})
        await fill(url, size, port)
        platform = Platform(place, size.workers)
        begun = time.monotonic()
        platform.ensure()
        await first_visit(port)
        await rage(verdict, size, platform, server)
        await calm(place, platform, size)
        verdict.seconds = time.monotonic() - begun
        verdict.exits.append(await asyncio.to_thread(platform.stop))
        visits = await asyncio.to_thread(ask, port)
        judge_visits(verdict, visits, size)
        await judge_rows(verdict, url)
        judge_archive(verdict, visits, await asyncio.to_thread(place.records), size)
    return verdict


async def first_visit(port: int) -> None:
    """Wait until the website gets a request."""
    async with asyncio.timeout(120):
        while not await asyncio.to_thread(ask, port):  # noqa: ASYNC110 - the website is another process
            await asyncio.sleep(0.1)


async def fill(url: str, size: Size, port: int) -> None:
    """Make a source and a daily job for each host."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        now = SystemClock().now()
        for number in range(size.jobs):
            base = f"http://{address(number)}:{port}/"
            said = f'{{"rate_limit": "{round(size.delay * 1000)}ms", "max_depth": 2}}'
            source = await records.sources.add(NewSource(f"s{number}", base, crawl=said))
            terms = ScheduleSpec(url=base, source_ref=source.public_id, every=1, unit="days", enabled=True)
            await records.schedules.add(
                NewSchedule(new_id(), base, source.id, interval_ms=86_400_000, next_due=now, terms=terms)
            )
    finally:
        await records.schema.close()


def address(number: int) -> str:
    """Return the loopback address of one job's host."""
    return f"127.0.{number // 200 + 1}.{number % 200 + 1}"


async def rage(verdict: Verdict, size: Size, platform: Platform, server: RestartablePostgres) -> None:
    """Kill and restart after random pauses, and restart every process that ended.

    Pauses are counted from one kill to the next, so that on a slow machine the storm takes longer.
    """
    blows = ["kill"] * size.kills + ["restart"] * size.restarts
    random.shuffle(blows)
    for blow in blows:
        until = time.monotonic() + random.uniform(0, 2 * size.seconds / len(blows))
        while time.monotonic() < until:
            await asyncio.sleep(0.1)
            platform.ensure()
        if blow == "kill":
            verdict.kills[await asyncio.to_thread(platform.kill_one, size.parsers)] += 1
        else:
            await asyncio.to_thread(server.restart)
            verdict.restarts += 1


async def calm(place: Place, platform: Platform, size: Size) -> None:
    """Let the platform finish, and start it again should it end."""
    deadline = time.monotonic() + size.patience
    while time.monotonic() < deadline:
        platform.ensure()
        if not await asyncio.to_thread(place.value, UNFINISHED):
            return
        await asyncio.sleep(1)


UNFINISHED = "SELECT COUNT(*) FROM schedules WHERE state IN ('pending', 'running') OR runs_made = 0"
"""Jobs that have not ended their first execution."""


def judge_visits(verdict: Verdict, visits: list[Visit], size: Size) -> None:
    """Compare the requests of every host with its delay and pages."""
    by_host: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for host, path, start, _, _ in visits:
        by_host[host].append((start, path))
    verdict.requests = len(visits)
    for number in range(size.jobs):
        seen = sorted(by_host[address(number)])
        for (before, _), (after, _) in pairwise(seen):
            verdict.smallest_gap = min(verdict.smallest_gap, after - before)
            if after - before < size.delay:
                verdict.too_soon.append((address(number), after - before))
        pages = [path for _, path in seen if path != "/robots.txt"]
        verdict.served += len(set(pages))
        verdict.fetched_again += len(pages) - len(set(pages))
        verdict.never_served += size.pages - len(set(pages))
        # Until its first page is reported an execution can only begin with that page.
        first_story = next((n for n, path in enumerate(pages) if path != "/"), len(pages))
        if "/" in pages[first_story:]:
            verdict.began_again.append(address(number))


def judge_archive(verdict: Verdict, visits: list[Visit], records: Counter[str], size: Size) -> None:
    """Compare the pages that the website served with those in the archive."""
    kept: Counter[tuple[str, str]] = Counter()
    for url, count in records.items():
        host, _, path = url.removeprefix("http://").partition("/")
        kept[host.partition(":")[0], f"/{path}"] += count
    hosts = {address(number) for number in range(size.jobs)}
    served = {(host, path) for host, path, _, _, _ in visits if host in hosts and path != "/robots.txt"}
    verdict.archived = len(kept)
    verdict.archived_twice = sum(count > 1 for count in kept.values())
    verdict.not_archived = sorted(served - kept.keys())


async def judge_rows(verdict: Verdict, url: str) -> None:
    """Read how every execution ended, and why."""
    connection: Any = await asyncpg.connect(url)
    try:
        runs = await connection.fetch("SELECT state, error FROM runs WHERE schedule_id IS NOT NULL")
        fates = await connection.fetch("SELECT fate, reason, SUM(count)::bigint AS n FROM fates GROUP BY 1, 2")
        cleared = await connection.fetchval("SELECT count FROM counters WHERE name = 'stale_leases'")
    finally:
        await connection.close()
    verdict.executions = Counter(row["state"] for row in runs)
    verdict.errors = Counter(row["error"] for row in runs if row["error"])
    verdict.fates = {f"{row['fate']} {row['reason']}".strip(): row["n"] for row in fates}
    verdict.stale_locks_cleared = cleared or 0


@contextmanager
def kept_or_not(folder: str | None) -> Iterator[Path]:
    """Yield a folder of the caller's, or a temporary one."""
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        yield Path(folder).resolve()
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def main() -> None:
    """Run the large form, or another size of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in LARGE._asdict().items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--folder", help="where data and logs are kept; by default they are thrown away")
    given = vars(parser.parse_args())
    folder = given.pop("folder")
    size = Size(**given)
    with kept_or_not(folder) as there:
        verdict = asyncio.run(storm(size, there))
    for name, found in vars(verdict).items():
        print(f"{name:20} {found}")
    faults = verdict.faults(size)
    print(*faults or ["every promise was kept"], sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
