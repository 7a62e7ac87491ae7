"""Metrics as a document for an OTLP collector."""

import json
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from longline.surfaces.platform.otlp_metrics import otlp_document

TIMES = {"startTimeUnixNano": "1", "timeUnixNano": "2"}


def metrics(registry: CollectorRegistry) -> dict[str, Any]:
    """Return the metrics of a registry's document by name."""
    [whole] = json.loads(otlp_document(registry.collect(), {"service.name": "it"}, 1, 2))["resourceMetrics"]
    assert whole["resource"]["attributes"] == [{"key": "service.name", "value": {"stringValue": "it"}}]
    [scope] = whole["scopeMetrics"]
    return {one["name"]: one for one in scope["metrics"]}


def test_a_counter_is_a_monotonic_sum():
    registry = CollectorRegistry()
    Counter("asked", "Requests.", ("route",), registry=registry).labels("/jobs").inc(3)
    [(name, found)] = metrics(registry).items()
    assert (name, found["description"]) == ("asked_total", "Requests.")
    attributes = [{"key": "route", "value": {"stringValue": "/jobs"}}]
    points = [{"attributes": attributes, "asDouble": 3.0, **TIMES}]
    assert found["sum"] == {"dataPoints": points, "aggregationTemporality": 2, "isMonotonic": True}


def test_a_gauge_is_a_gauge_and_no_value_is_no_point():
    registry = CollectorRegistry()
    gauge = Gauge("depth", "Depth.", ("of",), registry=registry)
    gauge.labels("a").set(-1.5)
    gauge.labels("b").set(float("nan"))
    [point] = metrics(registry)["depth"]["gauge"]["dataPoints"]
    assert point["asDouble"] == -1.5


def test_the_buckets_of_a_histogram_are_counted_alone():
    registry = CollectorRegistry()
    histogram = Histogram("took", "Time.", ("by",), buckets=(0.1, 1.0), registry=registry)
    for seconds in (0.05, 0.06, 0.5, 7.0):
        histogram.labels("x").observe(seconds)
    found = metrics(registry)["took"]["histogram"]
    [point] = found["dataPoints"]
    assert found["aggregationTemporality"] == 2
    assert (point["count"], point["bucketCounts"], point["explicitBounds"]) == ("4", ["2", "1", "1"], [0.1, 1.0])
    assert round(point["sum"], 2) == 7.61
