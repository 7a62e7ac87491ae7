"""A platform with a past, made by hand: sources, runs with every fate, a log and a throughput."""

import msgspec

from longline.model.ids import new_id
from longline.model.logs.run_log import NewLogEntry
from longline.model.metrics.throughput import WorkerThroughput
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.sources.source import NewSource
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from tests.drivers.records.world import admit, claim, ended, host_report, report, urls

ENDS = (
    *[(TaskState.COMPLETED, "ok")] * 12,
    *[(TaskState.SKIPPED, "content_type")] * 3,
    *[(TaskState.FAILED, "http_4xx")] * 2,
    (TaskState.FAILED, "connect_timeout"),
)
"""The ends of the first URLs of a run; the rest stays open."""


async def start_run(records: Records, seed: str, kind: RunKind = RunKind.CRAWL, source_id: int | None = None) -> RunRow:
    """Start a run without a URL."""
    run = await records.runs.add(NewRun(new_id(), kind, "{}", seed, source_id=source_id))
    await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    return run


async def add_urls(records: Records, run: RunRow, host: str, count: int) -> None:
    """Admit that many URLs of one host."""
    await admit(records, *urls(run, host, count))


async def end_urls(records: Records, ends: tuple[tuple[TaskState, str], ...] = ENDS, at: int = 1) -> None:
    """End the first URLs of every host."""
    for lease in (await claim(records, tasks=len(ends))).values():
        pairs = zip(lease.tasks, ends, strict=False)
        outcomes = [msgspec.structs.replace(ended(task, *end), at=at) for task, end in pairs]
        await report(records, host_report(lease, outcomes))


async def write_log(records: Records, run: RunRow, count: int, first: int = 0) -> None:
    """Write entries that name their number."""
    levels = ("info", "info", "warn", "info", "error", "debug")
    at = 1_700_000_000_000
    entries = [
        NewLogEntry(run.id, at + n, levels[n % len(levels)], "fetch", f"line {n}") for n in range(first, first + count)
    ]
    await records.logs.append(entries, {})


async def make_scene(records: Records) -> RunRow:
    """Make a run with every fate among others, and return it."""
    source = await records.sources.add(NewSource("Tidewater books", "https://tidewater-books.example/"))
    run = await start_run(records, "https://tidewater-books.example/", source_id=source.id)
    await add_urls(records, run, "tidewater-books.example", 30)
    await end_urls(records)
    await write_log(records, run, 30)
    await start_run(records, "manifest of charts", RunKind.MANIFEST)
    done = {("pages", ""): 600, ("requests", ""): 660, ("bytes", ""): 48_000_000, ("failures", "http_429"): 60}
    await records.counters.add({}, WorkerThroughput("a:1", done))
    return run
