"""Metrics of the platform in operation, from the counters of all processes and the figures of the queue."""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from longline.model.metrics.metric import COUNTED, LATE_MS, MAX_COUNTED, Metric, counter_values, histogram_values
from longline.services.metrics.platform_figures import PlatformFigureReader, PlatformFigures

_UP_TO = f"counted up to {MAX_COUNTED}"

HOSTS = Metric(
    "longline_hosts",
    "gauge",
    f"Hosts with open tasks: ready for a worker, late (ready for {LATE_MS // 1000} s), waiting, held; {_UP_TO}.",
    ("state",),
)
OLDEST = Metric("longline_oldest_due_seconds", "gauge", "Time for which the longest ready host has been ready.")
OFFERS = Metric("longline_offered_tasks", "gauge", f"Tasks that wait for a parser or a bot; {_UP_TO}.", ("executor",))
UNINDEXED = Metric("longline_unindexed_items", "gauge", f"Items that the search index does not have yet; {_UP_TO}.")
WORKERS = Metric("longline_workers", "gauge", "Living workers, once for each of their roles.", ("role",))
FREE_DISK = Metric("longline_free_disk_bytes", "gauge", "Free space on the disk of the data folder.")
CONNECTIONS = Metric(
    "longline_database_connections",
    "gauge",
    "Connections of the scraped process to the database; one of SQLite is busy while transactions wait for it.",
    ("state",),
)

SINK_WAITING = Metric("longline_sink_waiting_items", "gauge", "Items that wait for a sink.", ("id", "sink"))
SINK_FAILURES = Metric("longline_sink_failures", "gauge", "Failures of a sink since its last delivery.", ("id", "sink"))
SINK_DELIVERED = Metric("longline_sink_delivered_items", "counter", "Items that a sink has confirmed.", ("id", "sink"))

SINK_HELD_RUNS = Metric("longline_sink_held_runs", "gauge", "Runs whose next item a sink refuses.", ("id", "sink"))

SINKS = (SINK_WAITING, SINK_FAILURES, SINK_HELD_RUNS, SINK_DELIVERED)
"""Metrics of each sink, read at each scrape."""

GAUGES = (HOSTS, OLDEST, OFFERS, UNINDEXED, WORKERS, FREE_DISK, CONNECTIONS)
"""Metrics that are read at each scrape."""


class OperationMetrics(Collector):
    """A collector that takes one snapshot for each scrape; without a fresh snapshot it exports nothing."""

    def __init__(self, operation: PlatformFigureReader, registry: CollectorRegistry) -> None:
        self._operation = operation
        self._figures: PlatformFigures | None = None
        registry.register(self)

    async def refresh(self) -> None:
        """Take a snapshot."""
        self._figures = await self._operation.take()

    def collect(self) -> Iterator[Family]:
        """Yield the metrics of the snapshot, and drop the snapshot."""
        figures, self._figures = self._figures, None
        if figures is None:
            return
        for metric in COUNTED:
            yield _counted(metric, figures.counters)
        for metric in GAUGES:
            yield _gauge(metric, _values(metric, figures))
        yield from _sinks(figures)


def _counted(metric: Metric, counters: Mapping[str, int]) -> Family:
    if metric.kind == "counter":
        counts = CounterMetricFamily(metric.name, metric.text, labels=metric.labels)
        for values, count in counter_values(metric, counters).items():
            counts.add_metric(values, count)
        return counts
    times = HistogramMetricFamily(metric.name, metric.text, labels=metric.labels)
    for values, found in histogram_values(metric, counters).items():
        times.add_metric(values, [(bound, float(count)) for bound, count in found.at_most], found.sum_seconds)
    return times


def _gauge(metric: Metric, values: Mapping[tuple[str, ...], float]) -> Family:
    family = GaugeMetricFamily(metric.name, metric.text, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _values(metric: Metric, figures: PlatformFigures) -> dict[tuple[str, ...], float]:
    queue = figures.queue
    hosts = {"ready": queue.hosts_ready, "late": queue.hosts_late} | {
        "waiting": queue.hosts_waiting,
        "held": queue.hosts_held,
    }
    found: dict[str, dict[tuple[str, ...], float]] = {
        HOSTS.name: {(state,): count for state, count in hosts.items()},
        OLDEST.name: {(): queue.oldest_ms / 1000},
        OFFERS.name: {("parse",): queue.parse_ready, ("bot",): queue.bot_ready},
        UNINDEXED.name: {(): queue.unindexed},
        WORKERS.name: {(role,): count for role, count in figures.workers.items()},
        FREE_DISK.name: {(): figures.free_disk_bytes},
        CONNECTIONS.name: {(state,): count for state, count in figures.connections.items()},
    }
    return found[metric.name]


def _sinks(figures: PlatformFigures) -> Iterator[Family]:
    by_sink = {(str(lag.id), lag.label): lag for lag in figures.sinks}
    yield _gauge(SINK_WAITING, {labels: lag.waiting for labels, lag in by_sink.items()})
    yield _gauge(SINK_FAILURES, {labels: lag.failures for labels, lag in by_sink.items()})
    yield _gauge(SINK_HELD_RUNS, {labels: lag.held_runs for labels, lag in by_sink.items()})
    delivered = CounterMetricFamily(SINK_DELIVERED.name, SINK_DELIVERED.text, labels=SINK_DELIVERED.labels)
    for labels, lag in by_sink.items():
        delivered.add_metric(labels, lag.delivered)
    yield delivered
