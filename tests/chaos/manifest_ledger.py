"""A ledger of many finished manifests: the times of a snapshot, a list and a pruning.

`python -m tests.chaos.manifest_ledger URL [COUNT [SURPLUS]]` fills an empty, migrated database and prints the figures.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from longline.drivers.blobs import open_blobs
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.drivers.records.database import Transaction
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.runs.retention import RunDeleter
from longline.model.manifests.manifest import ManifestFilter
from longline.ports.records import Records
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.pruning import ManifestAges, ManifestPruning
from longline.services.manifests.snapshots import ManifestSnapshots

DAY_MS = 86_400_000
FILL = (
    """INSERT INTO runs (id, uid, kind, state, plan, seed, created_at, started_at, ended_at, updated_at)
    SELECT n, 'uid-' || n, 'manifest', CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END, '{"seeds":[]}', '',
        :now - 5184000000 + n, 1, :now - 5184000000 + n, :now - 5184000000 + n FROM numbers""",
    "INSERT INTO run_counts (run_id, admitted, completed, failed) SELECT n, 10, 9, 1 FROM numbers",
    """INSERT INTO manifests (run_id, kind, tenant, origin, metadata_key, resources, total, attributes, trace_id, bytes)
    SELECT n, 'k' || (n % 20), 't' || (n % 100), 'api', 'key', 10, 10, '{}', '', 600 FROM numbers""",
    """INSERT INTO dead_letters (run_id, run_uid, task_id, resource_id, url, kind, tenant, reason, attempts, host,
        failed_at) SELECT n, 'uid-' || n, n, 'r', 'u', 'k', 't', 'http_4xx', 1, 'h', 1 FROM numbers""",
)
NUMBERS = {
    "lite": "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) ",
    "pg": "WITH numbers AS (SELECT n FROM generate_series(1, {count}) AS n) ",
}


@dataclass
class Figures:
    """Milliseconds of the longest call of each kind; `statement` is the longest transaction of the pruning."""

    snapshot: float = 0.0
    lists: dict[str, float] = field(default_factory=dict)
    statement: float = 0.0
    pruned: int = 0
    seconds: float = 0.0


async def fill(records: Records, count: int, now: int) -> None:
    """Store this many finished manifests, 60 days old."""
    database = records.manifests.snapshots._database  # type: ignore[attr-defined]  # past the ports

    async def work(tx: Transaction) -> None:
        for statement in FILL:
            head, select = statement.split("SELECT", 1)
            numbers = NUMBERS[tx.engine].format(count=count)
            await tx.script(f"{numbers}{head}SELECT{select}".replace(":now", str(now)))
        if tx.engine == "pg":
            await tx.script("ANALYZE runs; ANALYZE run_counts; ANALYZE manifests; ANALYZE dead_letters")

    await database.transact(work)


async def timed(work: Callable[[], Awaitable[Any]], times: int = 20) -> float:
    """Return the median of several calls in milliseconds."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        took.append((time.perf_counter() - begun) * 1000)
    return sorted(took)[times // 2]


async def measure(url: str, count: int, surplus: int) -> Figures:
    """Fill an empty ledger, and measure it."""
    longest = 0.0

    def observe(_: str, begun: float) -> None:
        nonlocal longest
        longest = max(longest, (time.perf_counter() - begun) * 1000)

    clock = SystemClock()
    records = await open_records(url, clock, observe=observe)
    await records.schema.migrate()
    await fill(records, count, clock.now())
    snapshots, figures = ManifestSnapshots(records.manifests.snapshots), Figures()
    figures.snapshot = await timed(lambda: snapshots.get(f"uid-{count // 2}"))
    filters = {
        "all": ManifestFilter(),
        "failed": ManifestFilter(states=("failed", "cancelled")),
        "open": ManifestFilter(states=("queued", "running")),
        "in progress": ManifestFilter(states=("running",), awaiting=True),
        "tenant": ManifestFilter(tenant="t7"),
        "kind": ManifestFilter(kind="k7"),
        "since": ManifestFilter(since=clock.now()),
    }
    for name, wanted in filters.items():
        figures.lists[name] = await timed(partial(snapshots.page, wanted, None, 100), 5)
    longest, begun = 0.0, time.perf_counter()
    figures.pruned = (await _pruning(records, clock, count - surplus).prune()).pruned
    figures.seconds, figures.statement = time.perf_counter() - begun, longest
    await records.schema.close()
    return figures


def _pruning(records: Records, clock: SystemClock, keep: int) -> ManifestPruning:
    blobs = open_blobs("memory:///")
    letters = DeadLetters(records.dead_letters, Lifecycle(records).downloads, clock)
    deleter = RunDeleter(records.retention, blobs, blobs)
    # Young enough for all of them: the size decides.
    ages = ManifestAges(100 * DAY_MS, 100 * DAY_MS, keep * 600)
    stores = records.manifests
    return ManifestPruning(stores.snapshots, stores.keys, deleter, letters, ages, clock)


if __name__ == "__main__":
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    print(asyncio.run(measure(sys.argv[1], wanted, int(sys.argv[3]) if len(sys.argv) > 3 else wanted // 2)))
