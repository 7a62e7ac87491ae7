"""The frontier alone: URLs in, claims and reports of tasks that do nothing, until it is empty."""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import NewTask, Outcome
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import TaskState
from longline.model.urls.normalization import dedupe_key
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, HostSetting, ReportBatch
from tests.servers import running_postgres

PER_HOST = 20
ADMIT_AT_ONCE = 500
HOSTS, TASKS = 16, 32


class Measured(NamedTuple):
    """Rates per second, and (p50, p99) in milliseconds."""

    admitted: float
    drained: float
    claim: tuple[float, float]
    report: tuple[float, float]


async def drain(url: str, tasks: int, workers: int) -> Measured:
    """Fill a new database with tasks and empty it with some workers at once."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        lifecycle = Lifecycle(records)
        begun = time.perf_counter()
        await _fill(records, lifecycle, tasks)
        admitted = tasks / (time.perf_counter() - begun)
        claims: list[float] = []
        reports: list[float] = []
        begun = time.perf_counter()
        done = await asyncio.gather(*(_work(lifecycle, n, claims, reports) for n in range(1, workers + 1)))
        drained = sum(done) / (time.perf_counter() - begun)
        if sum(done) != tasks:
            raise RuntimeError(f"{tasks} tasks went in, {sum(done)} came out")
        return Measured(admitted, drained, _percentiles(claims), _percentiles(reports))
    finally:
        await records.schema.close()


async def drain_apart(url: str, tasks: int, processes: int) -> Measured:
    """Drain the frontier with each worker in a process of its own; times run from first claim to last report."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        begun = time.perf_counter()
        await _fill(records, Lifecycle(records), tasks)
        admitted = tasks / (time.perf_counter() - begun)
    finally:
        await records.schema.close()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        loop = asyncio.get_running_loop()
        # Ready before the first begins: starting an interpreter is none of the frontier's business.
        await asyncio.gather(*(loop.run_in_executor(pool, os.getpid) for _ in range(processes * 4)))
        each = await asyncio.gather(
            *(loop.run_in_executor(pool, _work_apart, url, owner) for owner in range(1, processes + 1))
        )
    done = sum(one.done for one in each)
    if done != tasks:
        raise RuntimeError(f"{tasks} tasks went in, {done} came out")
    seconds = max(one.ended for one in each) - min(one.begun for one in each)
    claims, reports = [c for one in each for c in one.claims], [r for one in each for r in one.reports]
    return Measured(admitted, done / seconds, _percentiles(claims), _percentiles(reports))


class Apart(NamedTuple):
    """The work of one process, with times of the machine's clock."""

    done: int
    begun: float
    ended: float
    claims: list[float]
    reports: list[float]


def _work_apart(url: str, owner: int) -> Apart:
    async def work() -> Apart:
        records = await open_records(url, SystemClock())
        claims: list[float] = []
        reports: list[float] = []
        try:
            begun = time.time()
            done = await _work(Lifecycle(records), owner, claims, reports)
            return Apart(done, begun, time.time(), claims, reports)
        finally:
            await records.schema.close()

    return asyncio.run(work())


async def _fill(records: Records, lifecycle: Lifecycle, tasks: int) -> None:
    run = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}"))
    await lifecycle.move(MoveRequest("run", run.id, "start", "worker", owner=1, lease_ms=3_600_000))
    for first in range(0, tasks, ADMIT_AT_ONCE):
        batch = [_task(n, run.id) for n in range(first, min(first + ADMIT_AT_ONCE, tasks))]
        await lifecycle.admit(batch, [HostSetting(host, 0, 1) for host in {task.host for task in batch}])


def _task(number: int, run_id: int) -> NewTask:
    host = f"host{number // PER_HOST}.example"
    url = f"https://{host}/section{number % 4}/page-{number}.html"
    return NewTask(url, host, dedupe_key(url), scope=run_id, run_id=run_id)


async def _work(lifecycle: Lifecycle, owner: int, claims: list[float], reports: list[float]) -> int:
    done = 0
    while True:
        begun = time.perf_counter()
        leases = await lifecycle.claim(ClaimRequest(owner, HOSTS, TASKS, 30_000))
        claims.append(time.perf_counter() - begun)
        if not leases:
            return done
        batch = ReportBatch(reports=[_report(lease) for lease in leases])
        begun = time.perf_counter()
        reported = await lifecycle.report(batch)
        reports.append(time.perf_counter() - begun)
        if reported.refused:
            raise RuntimeError("a report was refused")
        done += sum(len(lease.tasks) for lease in leases)


def _report(lease: HostLease) -> HostReport:
    ended = tuple(Outcome(task, TaskState.COMPLETED, "ok", at=0, status=200) for task in lease.tasks)
    return HostReport(lease.host_id, lease.token, ended, release=True)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2] * 1000, ordered[int(len(ordered) * 0.99)] * 1000


def main(arguments: Sequence[str]) -> None:
    """Measure every engine and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench frontier", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000, help="tasks in the frontier")
    tasks = parser.parse_args(arguments).tasks
    console = Console()
    rows = []
    with console.status("the frontier on SQLite"), tempfile.TemporaryDirectory() as folder:
        rows.append(("SQLite, FULL, 1 connection", asyncio.run(drain(f"sqlite:///{Path(folder) / 'b.db'}", tasks, 1))))
    with running_postgres(durable=True) as server:
        for connections in (1, 2):
            with console.status(f"the frontier on PostgreSQL, {connections} connections"):
                url = asyncio.run(server.create_database())
                measured = asyncio.run(drain(url, tasks, connections))
                rows.append((f"{server.version}, durable, {connections} at once", measured))
        with console.status("the frontier on PostgreSQL, 2 processes"):
            url = asyncio.run(server.create_database())
            rows.append((f"{server.version}, durable, 2 processes", asyncio.run(drain_apart(url, tasks, 2))))
    console.print(_table(rows))


def _table(rows: list[tuple[str, Measured]]) -> Table:
    table = Table("engine", "admit /s", "claim+report /s", "claim p50 ms", "claim p99 ms", "report p50", "report p99")
    for name, m in rows:
        figures = (m.admitted, m.drained, m.claim[0], m.claim[1], m.report[0], m.report[1])
        table.add_row(name, *(f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}" for figure in figures))
    return table
