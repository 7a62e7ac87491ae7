"""Growth with the size of the frontier: claim, report, admission and a worker's memory, with one giant host.

The tables are filled directly; all measured calls go through the lifecycle, in a process of its own.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import asyncpg
import msgspec
from rich.console import Console
from rich.table import Table

from bench.filling import CONCURRENCY, DELAY_MS, GIANT_DIRECTORY, PER_HOST, Page, Shape, fill
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import NewTask, Outcome
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import TaskState
from longline.ports.records.frontier.frontier import ClaimRequest, HostSetting, ReportBatch
from tests.servers import running_postgres

HOSTS, TASKS, TTL_MS = 16, 32, 60_000
AT_ONCE = 500
ADMISSIONS = 20
"""Batches of each kind."""

WARM_UP = 0.2
"""Share of the steady loop that is not counted: statements are prepared, caches fill."""

MIN_BATCHES = 2
"""Percentiles need two figures."""

SLOWER, LARGER = 1.5, 1.2
"""Bars: the factors by which the p99 of a claim or report, and a worker's memory, may grow from the smallest size."""

RELOADABLE = {
    "max_wal_size": "8GB",
    "wal_compression": "on",
    "autovacuum_naptime": "5s",
    "autovacuum_vacuum_cost_limit": "2000",
    "autovacuum_vacuum_cost_delay": "2ms",
}
"""Settings that a server takes without a restart; shared_buffers keep their small default."""


class Loop(msgspec.Struct):
    """Figures of a loop of claims and reports: seconds of each, tasks and seconds in total, peak memory."""

    claims: list[float] = []
    reports: list[float] = []
    tasks: int = 0
    seconds: float = 0.0
    resident_mb: float = 0.0

    def add(self, other: "Loop") -> None:
        """Count in another one."""
        self.claims += other.claims
        self.reports += other.reports
        self.tasks += other.tasks
        self.seconds += other.seconds
        self.resident_mb = max(self.resident_mb, other.resident_mb)

    def figures(self) -> dict[str, float]:
        """Return milliseconds, tasks a second, megabytes."""
        found = {"tasks/s": self.tasks / self.seconds, "batches": len(self.claims), "memory": self.resident_mb}
        for name, times in (("claim", self.claims), ("report", self.reports)):
            found |= {f"{name} p50": median(times) * 1e3, f"{name} p99": quantiles(times, n=100)[98] * 1e3}
        return found


class Errand(msgspec.Struct, frozen=True):
    """The order to a process."""

    url: str
    shape: Shape
    run_id: int
    seconds: float


class Crawl:
    """A worker's calls without the fetching: tasks are claimed, completed, and bring links."""

    def __init__(self, lifecycle: Lifecycle, errand: Errand) -> None:
        self._lifecycle, self._shape, self._run_id = lifecycle, errand.shape, errand.run_id
        self._dice = random.Random(1)
        self._mark = new_id()
        self._made = 0

    async def claim(self) -> list[HostLease]:
        """Lease a batch."""
        leases = await self._lifecycle.claim(ClaimRequest(1, HOSTS, TASKS, TTL_MS))
        if not leases:
            raise RuntimeError("nothing to claim")
        return leases

    def found(self, leases: Sequence[HostLease]) -> list[NewTask]:
        """Return for each task a new URL in its own directory, and a known one from anywhere."""
        links = []
        for lease in leases:
            for task in lease.tasks:
                links.append(self.fresh(Page(lease.host_id, lease.host, task.url)).task(self._run_id))
                links.append(self._shape.any(self._dice).task(self._run_id))
        return links

    async def report(self, leases: Sequence[HostLease], links: Sequence[NewTask]) -> None:
        """Complete all claimed tasks and release the hosts."""
        reported = await self._lifecycle.report(
            ReportBatch([_completed(lease) for lease in leases], links), settings(links)
        )
        if reported.refused or reported.admitted.new * 2 != len(links):
            raise RuntimeError(f"not what was expected of {len(links)} links: {reported}")

    async def admit(self, pages: Sequence[Page], new: int) -> None:
        """Admit pages in a transaction of their own."""
        tasks = [page.task(self._run_id) for page in pages]
        admitted = await self._lifecycle.admit(tasks, settings(tasks))
        if admitted.new != new:
            raise RuntimeError(f"{new} of {len(tasks)} should have been new: {admitted}")

    def fresh(self, page: Page) -> Page:
        """Return a new URL in the directory of another."""
        self._made += 1
        return page._replace(url=f"{page.url.rpartition('/')[0]}/{self._mark}-{self._made}.html")

    def small_batch(self) -> list[Page]:
        """Return all pages of some small hosts."""
        hosts = self._dice.sample(range(self._shape.hosts), min(AT_ONCE // PER_HOST, self._shape.hosts))
        return [self._shape.small(host, n) for host in hosts for n in range(PER_HOST)]

    def giant_batch(self) -> list[Page]:
        """Return pages of the giant host from a few of its directories."""
        together = GIANT_DIRECTORY // 4
        parts = self._shape.giant // together
        places = self._dice.sample(range(parts), min(AT_ONCE // together, parts))
        return [self._shape.large(place * together + n) for place in places for n in range(together)]


def settings(tasks: Sequence[NewTask]) -> list[HostSetting]:
    """Return the hosts of the tasks, as a worker names them."""
    return [HostSetting(host, DELAY_MS, CONCURRENCY) for host in {task.host for task in tasks}]


def _completed(lease: HostLease) -> HostReport:
    ended = tuple(Outcome(task, TaskState.COMPLETED, "ok", at=0, status=200) for task in lease.tasks)
    return HostReport(lease.host_id, lease.token, ended, release=True)


async def steady(crawl: Crawl, seconds: float) -> Loop:
    """Claim and report for some seconds, and at least twice; the frontier stays as large as it is."""
    loop, begun = Loop(), time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds * (1 + WARM_UP) or len(loop.claims) < MIN_BATCHES:
        if spent < seconds * WARM_UP:
            loop = Loop()
        leases = await _timed(crawl.claim, loop.claims)
        links = crawl.found(leases)
        await _timed(partial(crawl.report, leases, links), loop.reports)
        loop.tasks += sum(len(lease.tasks) for lease in leases)
    loop.seconds, loop.resident_mb = max(seconds, spent - seconds * WARM_UP), _most_resident_mb()
    return loop


async def admission(crawl: Crawl, batches: int = ADMISSIONS) -> dict[str, float]:
    """Return microseconds for a URL, by kind: the median over batches, the first of each not counted."""
    found = {}
    for kind, pages in (("small", crawl.small_batch), ("giant", crawl.giant_batch)):
        for word in ("known", "new"):
            times: list[float] = []
            for _ in range(batches + 1):
                batch = pages() if word == "known" else [crawl.fresh(page) for page in pages()]
                await _timed(partial(crawl.admit, batch, 0 if word == "known" else len(batch)), times)
            found[f"{word} {kind}"] = median(times[1:]) / len(batch) * 1e6
    return found


async def _timed(work: Callable[[], Awaitable[object]], spent: list[float]):
    begun = time.perf_counter()
    result = await work()
    spent.append(time.perf_counter() - begun)
    return result


def _most_resident_mb() -> float:
    """Return the peak memory of this program; getrusage() would count in the parent process."""
    line = next(each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


async def prepared(url: str, shape: Shape) -> int:
    """Fill tables with a frontier, and return its run."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        run = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}"))
        order = MoveRequest("run", run.id, "start", "worker", owner=1, lease_ms=24 * 3_600_000)
        await Lifecycle(records).move(order)
    finally:
        await records.schema.close()
    await fill(url, shape, run.id)
    return run.id


async def carry_out(errand: Errand) -> Loop | dict[str, float]:
    """Run the steady loop, or admission if no time is given, in a process of its own."""
    records = await open_records(errand.url, SystemClock())
    try:
        crawl = Crawl(Lifecycle(records), errand)
        return await (steady(crawl, errand.seconds) if errand.seconds else admission(crawl))
    finally:
        await records.schema.close()


def _sent(errand: Errand) -> bytes:
    command = [sys.executable, "-m", "bench.growth", "--errand", msgspec.json.encode(errand).decode()]
    return subprocess.run(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, check=True).stdout


def measured(
    new_database: Callable[[], str], sizes: Sequence[int], seconds: float, rounds: int, say: Callable[[str], None]
) -> list[dict[str, float]]:
    """Return the figures of each size.

    The sizes take turns, so that other load of the machine affects all of them. Admission is last because it
    makes a frontier larger.
    """
    errands = []
    for size in sizes:
        say(f"filling {size:,} tasks")
        url, shape = new_database(), Shape.of(size)
        errands.append(Errand(url, shape, asyncio.run(prepared(url, shape)), seconds))
    loops = [Loop() for _ in sizes]
    for number in range(rounds):
        for loop, errand in zip(loops, errands, strict=True):
            say(f"round {number + 1} of {rounds}, {errand.shape.tasks:,} tasks")
            loop.add(msgspec.json.decode(_sent(errand), type=Loop))
    say("admission")
    per_url = [json.loads(_sent(msgspec.structs.replace(errand, seconds=0.0))) for errand in errands]
    return [loop.figures() | admitted for loop, admitted in zip(loops, per_url, strict=True)]


@contextmanager
def sqlite_databases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of the engine, and a function that makes empty databases."""
    with tempfile.TemporaryDirectory(prefix="longline-growth-") as folder:

        def fresh() -> str:
            return f"sqlite:///{Path(folder) / new_id()}.db"

        yield "SQLite, FULL", fresh


@contextmanager
def postgres_databases() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the databases on a durable server of the benchmark's own."""
    with running_postgres(durable=True) as server:
        asyncio.run(_configure(server.address))
        yield f"{server.version}, durable", lambda: asyncio.run(server.create_database())


async def _configure(address: str) -> None:
    connection = await asyncpg.connect(address)
    try:
        for name, value in RELOADABLE.items():
            await connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


ENGINES = {"sqlite": sqlite_databases, "postgres": postgres_databases}

BARS = {"claim p99": SLOWER, "report p99": SLOWER, "memory": LARGER}
UNITS = {
    "claim p50": "ms",
    "claim p99": "ms",
    "report p50": "ms",
    "report p99": "ms",
    "tasks/s": "",
    "batches": "measured",
    "new small": "µs a URL",
    "new giant": "µs a URL",
    "known small": "µs a URL",
    "known giant": "µs a URL",
    "memory": "MB",
}


def table(title: str, sizes: Sequence[int], found: Sequence[Mapping[str, float]]) -> Table:
    """Return figures side by side, each with its ratio to the smallest size, and true if the bars were met."""
    shown = Table("", *(f"{size:,}" for size in sizes), "bar", title=title, title_justify="left")
    shown.caption, shown.caption_justify = busy(os.getloadavg()[1], os.cpu_count() or 1), "left"
    for name, unit in UNITS.items():
        values = [each[name] for each in found]
        shown.add_row(f"{name} {unit}", *(_cell(value, values[0]) for value in values), verdict(name, values))
    return shown


def busy(load: float, cores: int) -> str:
    """Return a warning if others used the machine as well: the loop and the server keep two processes busy at most."""
    return f"load {load:.1f} on {cores} cores: not a quiet machine, p99 shows others too" if load > cores else ""


def verdict(name: str, values: Sequence[float]) -> str:
    """Return a word for a figure within or over its bar; the empty text for one without."""
    if name not in BARS:
        return ""
    met = max(values) <= values[0] * BARS[name]
    return f"≤ {BARS[name]}×: {'met' if met else '[bold red]missed[/]'}"


def _cell(value: float, smallest: float) -> str:
    ratio = "" if value is smallest else f" ({value / smallest:.2f}×)"
    return (f"{value:,.0f}" if value >= 100 else f"{value:.2f}") + ratio


def count(text: str) -> int:
    """Return a count as people write it: 10k, 1m."""
    units = {"k": 1_000, "m": 1_000_000}
    return round(float(text[:-1]) * units[text[-1].lower()]) if text[-1].lower() in units else int(text)


def main(arguments: Sequence[str]) -> None:
    """Measure every engine at every size and print a table for each."""
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--sizes", default="10k,1m", help="open tasks, smallest first, separated by commas")
    parser.add_argument("--engines", default="sqlite,postgres", help="separated by commas")
    parser.add_argument("--seconds", type=float, default=8, help="length of a loop of claims and reports")
    parser.add_argument("--rounds", type=int, default=3, help="loops of each size")
    parser.add_argument("--errand", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.errand:
        done = asyncio.run(carry_out(msgspec.json.decode(asked.errand, type=Errand)))
        sys.stdout.write(msgspec.json.encode(done).decode())
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    sizes = sorted(count(each) for each in asked.sizes.split(","))
    for engine in asked.engines.split(","):
        with ENGINES[engine]() as (title, new_database):
            with console.status(title) as status:
                found = measured(new_database, sizes, asked.seconds, asked.rounds, status.update)
            console.print(table(title, sizes, found))


if __name__ == "__main__":
    main(sys.argv[1:])
