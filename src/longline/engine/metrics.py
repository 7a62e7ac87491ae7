"""Counts of this process, which are added to the counters of the database in turn."""

import asyncio
from collections import Counter
from time import perf_counter

from longline.model.metrics.histogram import SUM, bucket_of
from longline.model.metrics.metric import DATABASE_SECONDS, Metric, counter_name
from longline.model.metrics.throughput import WorkerThroughput, throughput_of
from longline.ports.records.metrics import CounterStore

FLUSH_INTERVAL_SECONDS = 5.0
"""Seconds between two additions of the counts of a process to the database."""

IDLE_FLUSH_INTERVAL_SECONDS = 60.0
"""Seconds for which an idle process keeps the times of its transactions, which look for work."""


class MetricCounters:
    """Counters in memory; `flush` adds them to the database. A killed process loses the counts since its last flush.

    The transaction of a flush is not counted: otherwise a process without work would have a count to flush each time.
    """

    def __init__(self) -> None:
        # By metric name, label values and part: names of counters are made once for each flush, not for each page.
        self._counts = Counter[tuple[str, ...]]()
        self._flushing: asyncio.Task[object] | None = None
        self.downloads = 0
        """Files that this process downloads at the moment."""

    def add(self, metric: Metric, *labels: str, count: int = 1) -> None:
        """Count events."""
        self._counts[metric.name, *labels] += count

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        """Count one value of a histogram."""
        self._counts[metric.name, *labels, bucket_of(seconds)] += 1
        self._counts[metric.name, *labels, SUM] += round(seconds * 1_000_000)

    def count_of(self, metric: Metric, *labels: str) -> int:
        """Return the count of events since the last flush."""
        return self._counts[metric.name, *labels]

    def observe_transaction(self, access: str, begun: float) -> None:
        """Count a transaction that began at a moment of `perf_counter`."""
        if self._flushing is None or asyncio.current_task() is not self._flushing:
            self.observe(DATABASE_SECONDS, perf_counter() - begun, access)

    @property
    def has_work(self) -> bool:
        """Return whether anything but transactions was counted; an idle process looks for work all the time."""
        return any(name != DATABASE_SECONDS.name for name, *_ in self._counts)

    async def flush(self, store: CounterStore, worker: str = "") -> None:
        """Add the counts to the database, under the name of this process; after a failure they are kept."""
        taken, self._counts = self._counts, Counter[tuple[str, ...]]()
        if not taken:
            return
        self._flushing = asyncio.current_task()
        try:
            named = {counter_name(*key): count for key, count in taken.items() if count}
            done = throughput_of(taken)
            await store.add(named, WorkerThroughput(worker, done) if done else None)
        except BaseException:
            self._counts.update(taken)
            raise
        finally:
            self._flushing = None
