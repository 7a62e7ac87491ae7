"""Lists of a million recrawls on PostgreSQL: every filter in every order, the first page and the hundredth.

`python -m tests.chaos.recrawl_lists` runs it with a million rows; a test of plans uses fewer. The rows are history as
it grows: each source was submitted as a whole, the scheduler made all later generations, and states go with retries
and times. A filter is then nowhere spread evenly over an order, which is the hard case for a planner.
"""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import asyncpg

from longline.drivers.records import open_records
from longline.model.recrawls.recrawl_lists import RecrawlQuery, SortField
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.migrated import migrate
from tests.drivers.records.recrawls.world import shop
from tests.servers import running_postgres

ROWS, SOURCES, GENERATIONS, PAGES_OF_BATCH = 1_000_000, 20, 5, 2000
PER_PAGE, PAGES = 20, (1, 100)
DAY_MS = 86_400_000
VACUUMS = 60

FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "large source": {"source_id": 0},
    "small source": {"source_id": SOURCES - 1},
    "completed": {"phase": "completed"},
    "failed": {"phase": "failed"},
    "paused": {"phase": "paused"},
    "waiting": {"phase": "waiting"},
    "ready": {"phase": "ready"},
    "low priority": {"priority_min": 800},
    "high priority": {"priority_max": 200},
    "new": {"created_after": 57},
    "recent": {"created_after": 30},
    "old": {"created_before": 10},
    "recurring": {"recurring": True},
    "once": {"recurring": False},
    "batch": {"batch_id": 3},
    "by people": {"created_by": "admin"},
    "by the scheduler": {"created_by": "scheduler"},
    "failed in a source": {"source_id": 1, "phase": "failed"},
    "completed in a small source": {"source_id": SOURCES - 1, "phase": "completed"},
}
"""Filters of lists; sources are counted from the largest, times are days since the first submission."""

FILL = """
SET session_replication_role = replica;
INSERT INTO hosts (id, host, delay_ms, concurrency)
    SELECT n, 's' || n || '.example', 1000, 1 FROM generate_series(1, {sources}) n;
INSERT INTO line (host_id, wake_at) SELECT n, 0 FROM generate_series(1, {sources}) n;
INSERT INTO batches (name, created_at)
    SELECT 'b' || n, 0 FROM generate_series(1, {rows} / {generations} / {batch} + 1) n;
CREATE TEMPORARY TABLE made AS
SELECT n AS id, g AS generation, p, h,
       {first_source} + least({sources} - 1, floor({sources} * power(p::float * {generations} / {rows}, 1.7)))::bigint
           AS source_id,
       {began} + n * (60::bigint * {day} / {rows}) AS created_at,
       CASE WHEN g < {generations} - 1 AND h < 900 THEN 'completed' WHEN g < {generations} - 1 AND h < 980 THEN 'failed'
            WHEN g < {generations} - 1 THEN 'cancelled'
            WHEN h < 600 THEN 'completed' WHEN h < 850 THEN 'pending' WHEN h < 950 THEN 'failed'
            WHEN h < 990 THEN 'paused' ELSE 'queued_parse' END AS rest
FROM (SELECT n, (n - 1) / ({rows} / {generations}) AS g, (n - 1) % ({rows} / {generations}) AS p, n * 7919 % 1000 AS h
      FROM generate_series(1::bigint, {rows}) n) each;
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
    SELECT m.id, -1 - m.generation, m.source_id - {first_source} + 1, int8send(m.p), r.id, 'fetch', m.rest,
           100 * (1 + (m.source_id + m.h % 3) % 10), 0, 0, m.created_at, 'https://s.example/p/' || m.p
    FROM made m JOIN runs r ON r.source_id = m.source_id;
INSERT INTO recrawls (id, source_id, run_id, url, url_hash, generation, head, rest, priority, due_at, retries,
                      created_at, updated_at, started_at, ended_at, frequency, every_ms, recurring,
                      next_at, created_by, batch_id)
    SELECT m.id, m.source_id, t.run_id, 'https://shop.example/products/page-of-a-thing-' || m.p || '?variant=' || m.p,
           encode(sha256(int8send(m.p)), 'hex'), m.generation, m.generation = {generations} - 1, m.rest, t.priority,
           CASE WHEN m.rest = 'pending' AND m.h < 750 THEN {began} + 60::bigint * {day} + m.h * 100000
                ELSE m.created_at END,
           CASE WHEN m.rest = 'failed' THEN 3 WHEN m.h % 20 = 0 THEN 1 ELSE 0 END, m.created_at,
           m.created_at + m.h * 3000, m.created_at + m.h * 2000,
           CASE WHEN m.rest IN ('completed', 'failed') THEN m.created_at + m.h * 3000 ELSE 0 END, '1 day', {day},
           m.source_id % 7 <> 0, CASE WHEN m.rest = 'completed' THEN m.created_at + {day} END,
           CASE WHEN m.generation > 0 THEN 'scheduler' WHEN m.source_id % 2 = 0 THEN 'admin' ELSE 'api' END,
           CASE WHEN m.source_id % 2 = 0 THEN m.p / {batch} + 1 END
    FROM made m JOIN tasks t ON t.id = m.id;
INSERT INTO recrawl_counts (source_id, rest, count) SELECT source_id, rest, count(*) FROM made GROUP BY 1, 2;
SET session_replication_role = origin;
"""
INDEXES = """
SELECT i.indexrelid::regclass AS name, pg_get_indexdef(i.indexrelid) AS made_by FROM pg_index i
LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid WHERE i.indrelid = 'recrawls'::regclass AND k.oid IS NULL
"""


BACKENDS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


class Timed(NamedTuple):
    """The time of one list, and the share in which the server used a processor."""

    ms: float
    server_ms: float
    filter: str
    sort: str
    way: str
    page: int


class Lists:
    """A database full of recrawls."""

    def __init__(self, url: str, clock: FakeClock) -> None:
        self.url, self.clock = url, clock
        self.began = clock.now() - 60 * DAY_MS
        self.first_source = 0

    async def fill(self, records: Records, rows: int) -> None:
        """Make sources with their runs, and all rows; the indexes of lists are built afterwards."""
        runs = [await shop(records, f"s{number}.example") for number in range(SOURCES)]
        self.first_source = min(run.source_id or 0 for run in runs)
        sizes = {"rows": rows, "sources": SOURCES, "generations": GENERATIONS, "batch": PAGES_OF_BATCH, "day": DAY_MS}
        connection = await asyncpg.connect(self.url)
        indexes = await connection.fetch(INDEXES)
        for index in indexes:
            await connection.execute(f"DROP INDEX {index['name']}")
        await connection.execute(FILL.format(**sizes, began=self.began, first_source=self.first_source))
        for index in indexes:
            await connection.execute(index["made_by"])
        await connection.execute("VACUUM ANALYZE tasks")
        await _vacuumed(connection)
        await connection.close()

    def query(self, name: str, sort: SortField, *, falling: bool) -> RecrawlQuery:
        """Return the query of a list."""
        asked = dict(FILTERS[name])
        if "source_id" in asked:
            asked["source_id"] += self.first_source
        for field in ("created_after", "created_before"):
            if field in asked:
                asked[field] = self.began + asked[field] * DAY_MS
        return RecrawlQuery(**asked, sort=sort, falling=falling)


async def _vacuumed(connection: Any) -> None:
    """Vacuum the recrawls until all their pages are known to be visible, on which the costs of plans depend.

    A snapshot of another session, such as that of an automatic ANALYZE, keeps a vacuum from this.
    """
    for _ in range(VACUUMS):
        await connection.execute("VACUUM ANALYZE recrawls")
        if await connection.fetchval("SELECT relallvisible = relpages FROM pg_class WHERE oid = 'recrawls'::regclass"):
            return
        await asyncio.sleep(0.5)
    raise AssertionError("the recrawls were not vacuumed")


async def timed(lists: Lists, records: Records) -> list[Timed]:
    """Return the times of all lists, the slowest first."""
    found: list[Timed] = []
    connection = await asyncpg.connect(lists.url)
    backends = [row["pid"] for row in await connection.fetch(BACKENDS)]
    await connection.close()
    for name in FILTERS:
        for sort in get_args(SortField):
            for falling in (True, False):
                for page in PAGES:
                    query = lists.query(name, sort, falling=falling)
                    times = await _times(records, query, page, backends)
                    found.append(Timed(*times, name, sort, "down" if falling else "up", page))
    return sorted(found, reverse=True)


async def _times(records: Records, query: RecrawlQuery, page: int, backends: Sequence[int]) -> tuple[float, float]:
    used, begun = _used(backends), time.monotonic()
    await records.recrawls.find(query, limit=PER_PAGE, offset=(page - 1) * PER_PAGE)
    ms = (time.monotonic() - begun) * 1000
    return ms, sum(ns - used[pid] for pid, ns in _used(backends).items()) / 1e6


def _used(backends: Sequence[int]) -> dict[int, int]:
    """Return nanoseconds of a processor by backend; a backend without its connection has ended."""
    files = {pid: Path(f"/proc/{pid}/schedstat") for pid in backends}
    return {pid: int(file.read_text().split()[0]) for pid, file in files.items() if file.exists()}


async def run(url: str, rows: int) -> None:
    """Fill a database and print the times."""
    await migrate(url)
    clock = FakeClock()
    records = await open_records(url, clock)
    lists = Lists(url, clock)
    begun = time.monotonic()
    await lists.fill(records, rows)
    print(f"{rows} rows in {time.monotonic() - begun:.0f} s")
    await timed(lists, records)
    load = os.getloadavg()[0]
    found = await timed(lists, records)
    await records.schema.close()
    print(f"load of the machine {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    for one in found[:30]:
        told = f"{one.filter}, by {one.sort} {one.way}, page {one.page}"
        print(f"{one.ms:8.1f} ms  {one.server_ms:8.1f} ms of the server's processor  {told}")
    print(f"{len(found)} lists:", summary([one.ms for one in found]))
    print("the server's processor:", summary([one.server_ms for one in found]))


def summary(times: Sequence[float]) -> str:
    """Return the median, the 95th percentile and the worst of times."""
    rising = sorted(times)
    middle, p95 = rising[len(rising) // 2], rising[len(rising) * 95 // 100]
    return f"median {middle:.1f} ms, p95 {p95:.1f} ms, worst {rising[-1]:.1f} ms"


def main() -> None:
    """Run it with the number of rows of the first argument."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with running_postgres() as server, server.fresh_database() as url:
        asyncio.run(run(url, rows))


if __name__ == "__main__":
    main()
