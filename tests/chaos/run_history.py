"""A hundred open runs beside very many ended ones on PostgreSQL: the size of the tables, and the time of `/metrics`.

`python -m tests.chaos.run_history` does it with 100,000 ended runs and then with a million; the suite with fewer. The
engine makes the open runs and the first ended ones. All others are copies of an ended run, inserted as open runs and
updated as often as the engine does it. Days of operation pass in minutes here, so a vacuum runs when autovacuum, which
checks once a minute, would find that many dead rows.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import asyncpg
from prometheus_client.parser import text_string_to_metric_families

from longline.drivers.records.named_queries import load
from longline.engine.frontier.admission import seed
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.wiring import Platform
from tests.drivers.records.world import claim, host_report, report
from tests.plans import crawl_plan
from tests.servers import running_postgres
from tests.surfaces.products.running import Door, running

OPEN, SIZES = 100, (100_000, 1_000_000)
MAX_MB, MAX_MS, MAX_GROWTH = 250, 50, 2
"""Bars: megabytes of `runs` with 100,000 ended runs, milliseconds of a scrape, and their growth up to a million."""

SCRAPES, BATCH_SIZE = 40, 1000
VACUUM_SHARE = 0.2
"""Share of dead rows at which autovacuum vacuums a table, by default."""

COUNTS = ("run_counts", "task_counts")
"""Queries of a scrape that count runs."""

COPY = (
    """INSERT INTO runs (id, uid, kind, state, plan, seed, created_at, updated_at)
       SELECT n, gen_random_uuid(), kind, 'queued', plan, seed || n, created_at, created_at
       FROM runs, generate_series({first}, {last}) n WHERE id = {ended}""",
    "INSERT INTO run_counts (run_id, admitted, open) SELECT n, 1, 1 FROM generate_series({first}, {last}) n",
    "UPDATE runs SET state = 'running', started_at = created_at WHERE id BETWEEN {first} AND {last}",
    "UPDATE run_counts SET open = 0, completed = 1 WHERE run_id BETWEEN {first} AND {last}",
    """UPDATE runs u SET state = e.state, ended_at = e.ended_at, updated_at = e.updated_at, token = e.token
       FROM runs e WHERE e.id = {ended} AND u.id BETWEEN {first} AND {last}""",
    "UPDATE run_counts SET cpu_ms = 0, counted_at = 1 WHERE run_id BETWEEN {first} AND {last}",
    "UPDATE run_totals SET runs = runs + 1 + {last} - {first}, completed = completed + 1 + {last} - {first}",
)
"""The life of a run of one page, for many runs at once."""

SIZE = "SELECT pg_total_relation_size($1::text::regclass)"


class Figures(NamedTuple):
    """Sizes in megabytes, the median time of a scrape, and the rows that its counts read."""

    ended: int
    runs_mb: float
    counts_mb: float
    scrape_ms: float
    processor_ms: float
    rows_read: int


async def run(folder: Path, url: str, sizes: Sequence[int]) -> list[Figures]:
    """Grow the history to each of the sizes and measure it."""
    async with running(folder, url) as door:
        ended = door.call(_begin(door.platform))
        door.call(_end_all(door.platform))
        last = door.call(_begin(door.platform))
        connection = await asyncpg.connect(url)
        found: list[Figures] = []
        for size in sizes:
            await _copy(connection, ended, last, size - OPEN)
            found.append(await _measured(door, connection, size))
        await connection.close()
    return found


async def _begin(platform: Platform) -> int:
    """Begin runs of one page, and return the id of the last."""
    plan, run_id = crawl_plan((), delay_ms=0), 0
    for number in range(OPEN):
        url = f"https://h{number}.example/feed"
        new = NewRun(new_id(), RunKind.FEED_POLL, plan.text(), url)
        run_id = await platform.lifecycle.runs.begin(new, [seed(url, 0, plan)], "test")
    return run_id


async def _end_all(platform: Platform) -> None:
    """Report the pages of all open runs."""
    while (await platform.records.runs.counts()).get("running"):
        leases = await claim(platform.records)
        await report(platform.records, *(host_report(lease) for lease in leases.values()))
        await asyncio.sleep(0.01)


async def _copy(connection: Any, ended: int, last: int, size: int) -> None:
    """Copy an ended run until there are that many copies; those of an earlier call stay."""
    first = max(last, await connection.fetchval("SELECT MAX(id) FROM runs")) + 1
    dead = 0
    for begin in range(first, last + size + 1, BATCH_SIZE):
        end = min(begin + BATCH_SIZE - 1, last + size)
        for statement in COPY:
            await connection.execute(statement.format(ended=ended, first=begin, last=end))
        dead += 2 * BATCH_SIZE
        if dead > VACUUM_SHARE * end or end == last + size:
            await connection.execute("VACUUM ANALYZE runs, run_counts")
            dead = 0


async def _measured(door: Door, connection: Any, size: int) -> Figures:
    """Measure sizes and scrapes; the states of runs must be those of the history."""
    times, used = [], []
    for _ in range(SCRAPES):
        begun, before = time.monotonic(), time.process_time()
        told = await door.client.get("/metrics")
        times.append((time.monotonic() - begun) * 1000)
        used.append((time.process_time() - before) * 1000)
    families = text_string_to_metric_families(told.text)
    runs = {s.labels["state"]: s.value for f in families for s in f.samples if s.name == "longline_runs"}
    assert (runs["running"], runs["completed"]) == (OPEN, size), runs
    runs_mb, counts_mb = [await connection.fetchval(SIZE, table) / 1e6 for table in ("runs", "run_counts")]
    read = [await _rows_read(connection, name) for name in COUNTS]
    return Figures(size, runs_mb, counts_mb, median(times), median(used), sum(read))


async def _rows_read(connection: Any, name: str) -> int:
    """Return the number of rows that a query reads."""
    told = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {load('pg')[name].sql}")
    counts = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    nodes = [node for node in _nodes(json.loads(told)[0]["Plan"]) if "Relation Name" in node]
    return sum(round(node.get(count, 0) * node["Actual Loops"]) for node in nodes for count in counts)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def main() -> None:
    """Run it with a short and a long history, and compare them with the bars."""
    with running_postgres() as server, server.fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(Path(folder), url, SIZES))
    for one in found:
        print(", ".join(f"{name} {value:.1f}" for name, value in one._asdict().items()))
    small, large = found
    growth = large.scrape_ms / small.scrape_ms
    print(f"a scrape grows {growth:.2f} times; load of the machine {os.getloadavg()[0]:.1f}")
    sys.exit(small.runs_mb > MAX_MB or small.scrape_ms > MAX_MS or growth > MAX_GROWTH)


if __name__ == "__main__":
    main()
