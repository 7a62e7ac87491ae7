"""Metrics of the manifest contract, for `/metrics`."""

import time
from collections import Counter as Counts
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from longline.services.manifests.figures import ManifestFigures
from longline.surfaces.manifests.failure_codes import family_code
from longline.surfaces.operation import ApiFailure

OPERATORS = "/operators"
STORAGE = "upload"
"""Reason of attempts that the object store refused."""


@dataclass(slots=True)
class IngestFacts:
    """The facts of one request that are counted."""

    bytes: int = 0


class _Totals(Collector):
    """Counters of all processes, as they were read last."""

    def __init__(self) -> None:
        self.figures = ManifestFigures()

    def collect(self) -> Iterator[Metric]:
        found = self.figures
        yield CounterMetricFamily("fetchbox_ledger_pruned_jobs", "Jobs that were pruned.", found.pruned)
        yield CounterMetricFamily("fetchbox_worker_dlq", "Tasks that were given up.", found.given_up)
        yield GaugeMetricFamily(
            "fetchbox_worker_tasks_inflight", "Tasks that the scraped process downloads.", found.downloading
        )
        if found.latency is not None:
            buckets = [(bound, float(count)) for bound, count in found.latency.at_most]
            yield HistogramMetricFamily(
                "fetchbox_worker_download_latency_seconds",
                "Time of an attempt to download a resource.",
                buckets,
                found.latency.sum_seconds,
            )
        downloads = {reason: count for reason, count in found.failures.items() if reason != STORAGE}
        storage = {reason: count for reason, count in found.failures.items() if reason == STORAGE}
        yield _by_code("fetchbox_worker_download_failures", "Attempts to download that failed.", downloads)
        yield _by_code("fetchbox_worker_storage_failures", "Attempts to store that failed.", storage)
        proxies = CounterMetricFamily("fetchbox_proxy_failures", "Requests that a proxy failed.", labels=("pool",))
        for pool, count in found.proxy_failures.items():
            proxies.add_metric((pool,), count)
        yield proxies


def _by_code(name: str, text: str, failures: Mapping[str, int]) -> CounterMetricFamily:
    """Return failures by the contract's code; several reasons may have one."""
    codes = Counts[str]()
    for reason, count in failures.items():
        codes[family_code(reason)] += count
    family = CounterMetricFamily(name, text, labels=("code",))
    for code, count in sorted(codes.items()):
        family.add_metric((code,), count)
    return family


class ManifestMetrics:
    """Counters of the intake, in the given registry; figures of workers are read from the records at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "fetchbox_api_requests", "Requests to the API.", ("status", "route"), registry=registry
        )
        self._operators = Counter("fetchbox_operator_requests", "Requests of operators.", registry=registry)
        self._jobs = Counter("fetchbox_ingest_jobs", "Manifests, by their answer.", ("result",), registry=registry)
        self._bytes = Counter("fetchbox_ingest_bytes", "Bytes of manifests, decompressed.", registry=registry)
        self._seconds = Histogram("fetchbox_ingest_duration_seconds", "Time to answer a manifest.", registry=registry)
        self._ready = Gauge("service_ready", "Whether a service can work.", ("service",), registry=registry)
        self._totals = _Totals()
        registry.register(self._totals)

    def show(self, figures: ManifestFigures) -> None:
        """Show figures of all processes at the next scrape."""
        self._totals.figures = figures

    def note_ready(self, *, is_ready: bool) -> None:
        """Show whether manifests can be taken."""
        self._ready.labels("api").set(is_ready)

    def observe(self, route: str, status: int) -> None:
        """Count one request to the API."""
        self._requests.labels(str(status), route).inc()
        if route.startswith(OPERATORS):
            self._operators.inc()

    @contextmanager
    def ingesting(self) -> Iterator[IngestFacts]:
        """Count one manifest, by its result."""
        begun, facts, result = time.perf_counter(), IngestFacts(), "error"
        try:
            yield facts
            result = "accepted"
        except ApiFailure as error:
            result = str(error.error.body["error"]["code"]).lower()
            raise
        finally:
            self._jobs.labels(result).inc()
            self._bytes.inc(facts.bytes)
            self._seconds.observe(time.perf_counter() - begun)
