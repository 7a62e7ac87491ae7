"""Planning alone: one pass over schedules that are due, and one preview of a rebalancing, at growing sizes."""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_database, open_records
from longline.drivers.records.database import Transaction
from longline.drivers.records.named_queries import load
from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.model.ids import new_id
from longline.model.schedules.schedule import ScheduleSpec
from longline.services.schedules.slots import Slots
from tests.servers import running_postgres

SIZES = (1_000, 10_000, 100_000)
HOUR_MS = 3_600_000
INTERVALS = (1, 6, 24, 168)
BATCH = 100
PASSES = 5
AT_ONCE = 1000


class Measured(NamedTuple):
    """The measured milliseconds, and the peak of memory in megabytes; `shifts` is the number of previewed moves."""

    schedules: int
    start_ms: float
    preview_ms: float
    preview_cpu_ms: float
    hours_ms: float
    shifts: int
    memory_mb: int


async def measure(url: str, schedules: int) -> Measured:
    """Fill a new database and plan in it."""
    clock = SystemClock()
    records = await open_records(url, clock)
    try:
        await records.schema.migrate()
        await _fill(url, schedules, clock.now())
        timetable, slots = ScheduleLifecycle(records), Slots(records.slots, records.schedules, clock)
        begun = time.perf_counter()
        for number in range(PASSES):
            if len(await timetable.start(number + 1, BATCH, 60_000)) != BATCH:
                raise RuntimeError("not everything that was due was started")
        started = (time.perf_counter() - begun) / PASSES
        begun, worked = time.perf_counter(), time.process_time()
        balance, _ = await slots.rebalance(apply=False)
        previewed, worked = time.perf_counter() - begun, time.process_time() - worked
        begun = time.perf_counter()
        await slots.hours()
        counted = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        spans = (started * 1e3, previewed * 1e3, worked * 1e3, counted * 1e3)
        return Measured(schedules, *spans, len(balance.shifts), peak)
    finally:
        await records.schema.close()


async def _fill(url: str, schedules: int, now: int) -> None:
    """Make schedules of which half are due, the others crowded into the next hours."""
    database = await open_database(url, SystemClock())
    try:
        for first in range(0, schedules, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, schedules))
            await database.transact(partial(_add, [_row(number, now) for number in numbers]))
    finally:
        await database.close()


def _row(number: int, now: int) -> dict[str, Any]:
    due = now - 1000 if number % 2 else now + 2 * HOUR_MS + number % 5 * 600_000
    terms = ScheduleSpec(url="https://a.example/", source_ref=f"s{number}")
    row = {"uid": new_id(), "source_id": None, "state": "scheduled", "next_due": due, "anchor": due, "placed_at": None}
    return msgspec.structs.asdict(terms) | row | {"interval_ms": INTERVALS[number % len(INTERVALS)] * HOUR_MS}


async def _add(rows: Sequence[dict[str, Any]], tx: Transaction) -> None:
    columns = load("lite")["add_schedules"].columns
    await tx.batch("add_schedules", [tuple(row[name] for name in columns) for row in rows])


def show(measured: Sequence[Measured], title: str, console: Console) -> None:
    """Print the table for people."""
    table = Table(title=title)
    for name in ("schedules", f"start {BATCH}, ms", "preview, ms", "of it CPU", "hours, ms", "would move", "peak MB"):
        table.add_column(name, justify="right")
    for m in measured:
        table.add_row(
            f"{m.schedules:,}",
            f"{m.start_ms:.1f}",
            f"{m.preview_ms:.1f}",
            f"{m.preview_cpu_ms:.1f}",
            f"{m.hours_ms:.1f}",
            f"{m.shifts:,}",
            f"{m.memory_mb}",
        )
    console.print(table)


def main(words: Sequence[str]) -> None:
    """Measure on both engines, or on one."""
    parser = argparse.ArgumentParser(prog="python -m bench scheduler", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="how many schedules, separated by commas")
    parser.add_argument("--engine", choices=["sqlite", "postgres", "both"], default="both")
    asked = parser.parse_args(words)
    sizes = [int(size) for size in asked.sizes.split(",")]
    engines = ["sqlite", "postgres"] if asked.engine == "both" else [asked.engine]
    for engine in engines:
        measured = []
        for size in sizes:
            with ExitStack() as stack:
                if engine == "sqlite":
                    url = f"sqlite:///{Path(stack.enter_context(tempfile.TemporaryDirectory())) / 'bench.db'}"
                else:
                    url = stack.enter_context(stack.enter_context(running_postgres()).fresh_database())
                measured.append(asyncio.run(measure(url, size)))
        show(measured, engine, Console())
