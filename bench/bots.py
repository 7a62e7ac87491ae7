"""Bots: pull(10) and submit over HTTP, every answer durable, beside a bare echo and queues that do nothing."""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import uvloop
import wreq
from rich.console import Console
from rich.table import Table

from bench import frontier
from bench.contestants import RIVAL
from bench.usage import cpu_seconds
from bench.wire import Wire, wires
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.bots.bot_task import NewBotTask
from longline.ports.records.frontier.frontier import HostSetting
from tests.servers import PostgresServer, running_postgres, running_valkey
from tests.servers.process import free_ports

AT_ONCE = 10
BOTS = 50
HOST = "shop.example"
ON_POSTGRES, ON_SQLITE = "Longline, PostgreSQL", "Longline, SQLite"
TIMES = {"Procrastinate": 10.0, "Celery, Valkey": 2.0}
"""Required factors of jobs a second over these, over HTTP and with every answer durable."""

TASKS_A_SECOND = 30_000.0


class Measured(NamedTuple):
    """Jobs per second of a client, and the CPU seconds of the server for a thousand jobs."""

    name: str
    rate: float
    cpu: float | None = None


async def drive(address: str, jobs: int, bots: int = BOTS) -> float:
    """Pull and submit until all jobs are done, and return the seconds."""
    async with wires(address, bots * AT_ONCE) as opened:
        shares = [opened[n::bots] for n in range(bots)]
        begun = time.perf_counter()
        done = await asyncio.gather(*(_bot(share, f"bot-{n}") for n, share in enumerate(shares)))
        seconds = time.perf_counter() - begun
    if sum(done) != jobs:
        raise RuntimeError(f"{jobs} jobs were there, {sum(done)} were done")
    return seconds


async def _bot(opened: list[Wire], name: str) -> int:
    done = 0
    while True:
        _, told = await opened[0].post("/api/crawl/pull/", orjson.dumps({"bot_id": name, "max_jobs": AT_ONCE}))
        handed = orjson.loads(told)["data"]["jobs"]
        if not handed:
            return done
        said = {"bot_id": name, "success": True, "price": "1.00", "currency": "USD", "title": "A thing"}
        bodies = [orjson.dumps({**said, "job_id": job["job_id"]}) for job in handed]
        submits = (wire.post("/api/crawl/submit/", body) for wire, body in zip(opened, bodies, strict=False))
        answers = await asyncio.gather(*submits)
        if any(status != 201 for status, _ in answers):
            raise RuntimeError(f"a submit was refused: {answers}")
        done += len(handed)


async def fill(url: str, jobs: int) -> None:
    """Make the tables and so many jobs."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        for first in range(0, jobs, 1000):
            numbers = range(first, min(first + 1000, jobs))
            tasks = [NewBotTask(f"https://{HOST}/{n}", HOST, 500, 3, 600_000) for n in numbers]
            await records.bot_tasks.add(tasks, [HostSetting(HOST, 0, 1)])
    finally:
        await records.schema.close()


@contextmanager
def serving(command: Sequence[str], **more: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a server in a process of its own."""
    environ = {**os.environ, **more}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def ours(name: str, url: str, jobs: int) -> Measured:
    """Measure the platform on the engine behind a URL."""
    asyncio.run(fill(url, jobs))
    with tempfile.TemporaryDirectory() as folder:
        words = ("up", "--port", "0", "--database", url, "--log-level", "error")
        with serving([sys.executable, "-m", "longline.cli", *words], LONGLINE_DATA=folder) as server:
            assert server.stdout
            address = server.stdout.readline().split(" listens on ")[1].split()[0]
            before = cpu_seconds(server.pid)
            seconds = uvloop.run(drive(address, jobs))
            return Measured(name, jobs / seconds, (cpu_seconds(server.pid) - before) / jobs * 1000)


def echo(jobs: int) -> Measured:
    """Measure the bare framework."""
    port = free_ports(1)[0]
    with serving([sys.executable, "-m", "bench.queues.echo", str(port), str(jobs)]) as server:
        address = f"http://127.0.0.1:{port}"
        asyncio.run(_until_it_answers(address))
        before = cpu_seconds(server.pid)
        seconds = uvloop.run(drive(address, jobs))
        return Measured("bare framework, echo", jobs / seconds, (cpu_seconds(server.pid) - before) / jobs * 1000)


async def _until_it_answers(address: str) -> None:
    client, deadline = wreq.Client(no_proxy=True), time.monotonic() + 20
    while True:
        try:
            await client.get(address)
            return
        except (wreq.RequestError, wreq.ConnectionError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)


def rival(name: str, program: str, url: str, jobs: int) -> Measured:
    """Measure a queue that does the same number of jobs that do nothing."""
    command = [RIVAL, "-m", f"bench.queues.{program}", url, str(jobs)]
    quiet: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "timeout": 300}
    said = subprocess.run(command, check=True, **quiet).stdout
    # Some of them print further lines.
    return Measured(name, jobs / float(said.split("seconds=")[1].split()[0]))


def _measure(jobs: int, postgres: PostgresServer, console: Console) -> Iterator[Measured]:
    def fresh() -> str:
        return asyncio.run(postgres.create_database())

    with console.status("the bare framework"):
        yield echo(jobs)
    with console.status("Longline on PostgreSQL"):
        yield ours(ON_POSTGRES, fresh(), jobs)
    with console.status("Longline on SQLite"), tempfile.TemporaryDirectory() as folder:
        yield ours(ON_SQLITE, f"sqlite:///{Path(folder) / 'b.db'}", jobs)
    if not Path(RIVAL).exists():
        console.print("[yellow]without rivals:[/] `make bench` installs them beside us")
        return
    with console.status("Procrastinate"):
        yield rival("Procrastinate", "procrastinate_tasks", fresh(), jobs)
    with console.status("PgQueuer"):
        yield rival("PgQueuer", "pgqueuer_tasks", fresh(), jobs)
    with console.status("Celery"), running_valkey() as valkey:
        yield rival("Celery, Valkey", "celery_tasks", valkey.url, jobs)


def engine(tasks: int, postgres: PostgresServer, console: Console) -> Iterator[Measured]:
    """Measure the engine's own way from claim to report, without HTTP: batches, fenced, every commit durable."""
    with console.status("claim and report on PostgreSQL"):
        url = asyncio.run(postgres.create_database())
        drained = asyncio.run(frontier.drain_apart(url, tasks, 2)).drained
    yield Measured("claim → report, PostgreSQL, 2 processes", drained)
    with console.status("claim and report on SQLite"), tempfile.TemporaryDirectory() as folder:
        drained = asyncio.run(frontier.drain(f"sqlite:///{Path(folder) / 'b.db'}", tasks, 1)).drained
    yield Measured("claim → report, SQLite", drained)


def bars(measured: Sequence[Measured]) -> Iterator[tuple[str, float, float]]:
    """Yield required figures: the name, the measured value and the smallest value that is allowed."""
    rates = {m.name: m.rate for m in measured}
    for rival_name, times in TIMES.items():
        for ours_name in (ON_POSTGRES, ON_SQLITE):
            if rival_name in rates:
                yield f"{ours_name} / {rival_name}", rates[ours_name] / rates[rival_name], times
    for m in measured:
        if m.name.startswith("claim"):
            yield m.name, m.rate, TASKS_A_SECOND


def main(arguments: Sequence[str]) -> None:
    """Measure all clients once, one after the other, and print their figures and the required figures."""
    parser = argparse.ArgumentParser(prog="python -m bench bots", description=__doc__)
    parser.add_argument("--jobs", type=int, default=5000, help="jobs that everybody does")
    parser.add_argument("--tasks", type=int, default=50_000, help="tasks that are claimed and reported without HTTP")
    asked = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 110)
    with running_postgres(durable=True) as postgres:
        measured = [*_measure(asked.jobs, postgres, console), *engine(asked.tasks, postgres, console)]
    table = Table("who", "jobs /s", "pull(10)+submit cycles /s", "server CPU ms / job")
    for m in measured:
        served = m.cpu is not None
        cycles, cpu = (f"{m.rate / AT_ONCE:,.0f}", f"{m.cpu:.2f}") if served else ("–", "–")
        table.add_row(m.name, f"{m.rate:,.0f}", cycles, cpu)
    console.print(table)
    asked_for = Table("asked for", "measured", "at least", "")
    for name, found, least in bars(measured):
        asked_for.add_row(name, f"{found:,.1f}", f"{least:,.0f}", "met" if found >= least else "[red]missed[/]")
    console.print(asked_for)
