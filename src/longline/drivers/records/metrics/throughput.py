"""Throughput on either engine: each process adds to rows of its own, so that none waits for another."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.metrics.throughput import (
    HOURS_KEPT_MS,
    MINUTES_KEPT_MS,
    ThroughputCount,
    ThroughputWindow,
    WorkerThroughput,
)

SUMMED_HOURS = 3
"""Number of the newest hours that are summed again: flushes may be late."""


async def add_throughput(tx: Transaction, found: WorkerThroughput) -> None:
    """Add the counts of one process to the present minute."""
    rows = [(measure, reason, count) for (measure, reason), count in sorted(found.counts.items())]
    await tx.batch("add_throughput", rows, at=tx.now - tx.now % MINUTE_MS, worker=found.worker)


class ThroughputRecords(Table):
    """Throughput by minute and hour."""

    async def find(self, window: ThroughputWindow, now: int) -> list[ThroughputCount]:
        query = "throughput_hours" if window.by_hour else "throughput_minutes"
        first = now - now % window.step_ms - window.span_ms + window.step_ms
        return await self._all(query, ThroughputCount, since=first, step=window.step_ms)

    async def upkeep(self) -> None:
        async def work(tx: Transaction) -> None:
            hour = tx.now - tx.now % HOUR_MS
            await tx.all("sum_throughput_hours", since=hour - SUMMED_HOURS * HOUR_MS)
            await tx.all("forget_throughput_minutes", before=tx.now - MINUTES_KEPT_MS)
            await tx.all("forget_throughput_hours", before=tx.now - HOURS_KEPT_MS)

        await self._database.transact(work)
