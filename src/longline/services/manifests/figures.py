"""Figures of manifests over all processes, for metrics."""

import msgspec

from longline.engine.metrics import MetricCounters
from longline.model.metrics.histogram import Histogram
from longline.model.metrics.metric import (
    DOWNLOAD_FAILURES,
    DOWNLOAD_SECONDS,
    DOWNLOADS_GIVEN_UP,
    MANIFESTS_PRUNED,
    PROXY_FAILURES,
    counter_values,
    histogram_values,
)
from longline.ports.records.metrics import CounterStore


class ManifestFigures(msgspec.Struct, frozen=True):
    """Numbers of all processes since the beginning, and the files that this process downloads at the moment.

    `failures` are failed attempts by reason, `proxy_failures` requests by the pool of their run.
    """

    pruned: int = 0
    given_up: int = 0
    failures: dict[str, int] = {}
    proxy_failures: dict[str, int] = {}
    latency: Histogram | None = None
    downloading: int = 0


class ManifestFigureReader:
    """The reader of the figures."""

    def __init__(self, counters: CounterStore, own: MetricCounters) -> None:
        self._counters, self._own = counters, own

    async def read(self) -> ManifestFigures:
        """Return the present figures."""
        found = await self._counters.all()
        return ManifestFigures(
            counter_values(MANIFESTS_PRUNED, found).get((), 0),
            counter_values(DOWNLOADS_GIVEN_UP, found).get((), 0),
            {reason: count for (reason,), count in counter_values(DOWNLOAD_FAILURES, found).items()},
            {pool: count for (pool,), count in counter_values(PROXY_FAILURES, found).items()},
            histogram_values(DOWNLOAD_SECONDS, found).get(()),
            self._own.downloads,
        )
