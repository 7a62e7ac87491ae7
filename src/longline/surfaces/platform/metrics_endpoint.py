"""`/metrics` for Prometheus. Requests are counted as they happen, database records at each scrape."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from longline.services.metrics.event_loop_lag import Delays, LoopMonitor
from longline.services.metrics.platform_figures import PlatformFigureReader
from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.middleware import AccessRecord
from longline.surfaces.operation import Content, operation
from longline.surfaces.platform.platform_metrics import OperationMetrics

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TIMEOUT_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Metrics:
    """All metrics of this process, in a registry of its own.

    Functions in `watched` update gauges at each scrape, those in `probes` even while the database is away.
    """

    def __init__(self, version: str) -> None:
        own = self.registry = CollectorRegistry()
        self.watched: list[Callable[[], Awaitable[None]]] = []
        self.probes: list[Callable[[], Awaitable[None]]] = []
        self.observers: dict[str, Callable[[str, int], None]] = {}
        """Functions that get the status of requests to a route, by route."""
        ProcessCollector(registry=own)
        PlatformCollector(registry=own)
        GCCollector(registry=own)
        Info("longline_build", "What is running.", registry=own).info({"version": version})
        labels = ("method", "route", "status")
        self._requests = Counter("longline_http_requests", "Requests answered.", labels, registry=own)
        self._seconds = Histogram(
            "longline_http_request_duration_seconds", "Time to answer.", ("method", "route"), registry=own
        )
        self._up = Gauge("longline_records_up", "Whether the records could be counted just now.", registry=own)
        self._tasks = Gauge("longline_tasks", "Tasks, open or ended.", ("state",), registry=own)
        self._runs = Gauge("longline_runs", "Runs.", ("state",), registry=own)

    def observe(self, exchange: AccessRecord) -> None:
        """Count one request."""
        # Clients may send any method; the number of label values must stay bounded.
        method = exchange.method if exchange.method in _METHODS else "other"
        self._requests.labels(method, exchange.route, str(exchange.status)).inc()
        self._seconds.labels(method, exchange.route).observe(exchange.seconds)
        if observer := self.observers.get(exchange.route):
            observer(exchange.route, exchange.status)

    def watch_loop(self, monitor: LoopMonitor) -> None:
        """Export the delays of the event loop."""
        self.registry.register(_LoopFigures(monitor))

    def watch_operation(self, operation: PlatformFigureReader) -> None:
        """Export the figures of the platform in operation."""
        self.watched.append(OperationMetrics(operation, self.registry).refresh)

    async def text(self, counts: Counts) -> bytes:
        """Return all current metrics for Prometheus."""
        await self.refresh(counts)
        return generate_latest(self.registry)

    async def refresh(self, counts: Counts) -> None:
        """Update all gauges. If the database does not respond, those of tasks and runs are left out."""
        for probe in self.probes:
            await probe()
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                totals = await counts.take()
                for refresh_metrics in self.watched:
                    await refresh_metrics()
        except Exception as error:
            _log.warning("record counts not available", extra={"reason": str(error) or "no answer in time"})
            self._tasks.clear()
            self._runs.clear()
            self._up.set(0)
        else:
            self._up.set(1)
            for gauge, found in ((self._tasks, totals.tasks), (self._runs, totals.runs)):
                for state, count in found.items():
                    gauge.labels(state).set(count)


class _LoopFigures(Collector):
    """The delays of the event loop, read at each scrape."""

    def __init__(self, monitor: LoopMonitor) -> None:
        self._monitor = monitor

    def collect(self) -> Iterator[Metric]:
        lag, blocks = self._monitor.lag(), self._monitor.blocks()
        yield _histogram("longline_loop_lag_seconds", "By how much the event loop came too late.", lag)
        yield _histogram("longline_loop_block_seconds", "Delays of the event loop less their run delay.", blocks)
        yield GaugeMetricFamily(
            "longline_loop_longest_lag_seconds", "The longest delay of the last minutes.", lag.longest_seconds
        )
        yield GaugeMetricFamily(
            "longline_loop_longest_block_seconds",
            "The longest delay of the last minutes less its run delay.",
            blocks.longest_seconds,
        )
        yield CounterMetricFamily(
            "longline_loop_run_delay_seconds",
            "Time for which the thread of the event loop was ready and the operating system ran other threads.",
            self._monitor.run_delay_seconds,
        )


def _histogram(name: str, text: str, delays: Delays) -> HistogramMetricFamily:
    buckets = [(str(bound), float(count)) for bound, count in delays.at_most] + [("+Inf", float(delays.count))]
    return HistogramMetricFamily(name, text, buckets, delays.sum_seconds)


@dataclass(frozen=True, slots=True)
class MetricsServices:
    """All metrics, and the counts of tasks and runs."""

    metrics: Metrics
    counts: Counts


@operation("GET", "/metrics", "Export metrics for Prometheus", access="metrics", answers={200: Content("text/plain")})
async def show_metrics(services: MetricsServices) -> Content:
    return Content(CONTENT_TYPE_LATEST, await services.metrics.text(services.counts))


METRICS = (show_metrics,)
