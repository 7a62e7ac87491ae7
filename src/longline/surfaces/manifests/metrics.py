"""Metrics of the manifest contract, for `/metrics`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from longline.surfaces.operation import ApiFailure


@dataclass(slots=True)
class IngestFacts:
    """The facts of one request that are counted."""

    bytes: int = 0


class ManifestMetrics:
    """Counters of the intake, in the given registry; figures of workers are read from the records at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._jobs = Counter("fetchbox_ingest_jobs", "Manifests, by their answer.", ("result",), registry=registry)
        self._bytes = Counter("fetchbox_ingest_bytes", "Bytes of manifests, decompressed.", registry=registry)
        self._seconds = Histogram("fetchbox_ingest_duration_seconds", "Time to answer a manifest.", registry=registry)
        self.ready = Gauge("service_ready", "Whether a service can work.", ("service",), registry=registry)

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
