"""Metrics of the manifest contract, for `/metrics`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from longline.services.manifests.figures import ManifestFigures
from longline.surfaces.operation import ApiFailure


@dataclass(slots=True)
class IngestFacts:
    """The facts of one request that are counted."""

    bytes: int = 0


class _Totals(Collector):
    """Counters of all processes, as they were read last."""

    def __init__(self) -> None:
        self.figures = ManifestFigures()

    def collect(self) -> Iterator[Metric]:
        pruned, given_up = self.figures.pruned, self.figures.given_up
        yield CounterMetricFamily("fetchbox_ledger_pruned_jobs", "Jobs that were pruned.", pruned)
        yield CounterMetricFamily("fetchbox_worker_dlq", "Tasks that were given up.", given_up)


class ManifestMetrics:
    """Counters of the intake, in the given registry; figures of workers are read from the records at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._jobs = Counter("fetchbox_ingest_jobs", "Manifests, by their answer.", ("result",), registry=registry)
        self._bytes = Counter("fetchbox_ingest_bytes", "Bytes of manifests, decompressed.", registry=registry)
        self._seconds = Histogram("fetchbox_ingest_duration_seconds", "Time to answer a manifest.", registry=registry)
        self._ready = Gauge("service_ready", "Whether a service can work.", ("service",), registry=registry)
        self._ready.labels("api").set(1)
        self._totals = _Totals()
        registry.register(self._totals)

    def show(self, figures: ManifestFigures) -> None:
        """Show figures of all processes at the next scrape."""
        self._totals.figures = figures

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
