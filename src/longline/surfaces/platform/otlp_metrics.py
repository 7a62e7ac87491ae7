"""All metrics as a document of the OpenTelemetry protocol (OTLP), in its JSON form."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from prometheus_client.core import Metric
from prometheus_client.samples import Sample

CUMULATIVE = 2
"""Aggregation temporality of sums since the start."""

Times = Mapping[str, str]


def otlp_document(families: Iterable[Metric], resource: Mapping[str, str], start_ns: int, now_ns: int) -> bytes:
    """Return metrics as an `ExportMetricsServiceRequest`; 64-bit integers are texts, as the JSON form has them."""
    times = {"startTimeUnixNano": str(start_ns), "timeUnixNano": str(now_ns)}
    metrics = [metric for family in families for metric in _metrics(family, times)]
    scope = {"scope": {"name": "longline"}, "metrics": metrics}
    document = {"resource": {"attributes": _attributes(resource)}, "scopeMetrics": [scope]}
    return msgspec.json.encode({"resourceMetrics": [document]})


def _metrics(family: Metric, times: Times) -> Iterator[dict[str, Any]]:
    if family.type == "histogram":
        data = {"aggregationTemporality": CUMULATIVE, "dataPoints": _histograms(family.samples, times)}
        yield {"name": family.name, "description": family.documentation, "histogram": data}
        return
    points: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for sample in family.samples:
        if not sample.name.endswith("_created") and math.isfinite(sample.value):
            points[sample.name].append(_point(sample.labels, times) | {"asDouble": float(sample.value)})
    for name, found in points.items():
        data = {"dataPoints": found}
        kind = {"gauge": data}
        if family.type == "counter":
            kind = {"sum": data | {"aggregationTemporality": CUMULATIVE, "isMonotonic": True}}
        yield {"name": name, "description": family.documentation, **kind}


def _histograms(samples: Iterable[Sample], times: Times) -> list[dict[str, Any]]:
    """Return a point for each set of labels; Prometheus counts a bucket with all smaller ones, OTLP each by itself."""
    buckets: defaultdict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = defaultdict(list)
    sums: dict[tuple[tuple[str, str], ...], float] = {}
    for sample in samples:
        key = tuple((name, value) for name, value in sample.labels.items() if name != "le")
        if sample.name.endswith("_bucket"):
            buckets[key].append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_sum"):
            sums[key] = sample.value
    return [_point(dict(key), times) | _buckets(found) | {"sum": sums.get(key, 0.0)} for key, found in buckets.items()]


def _buckets(found: list[tuple[float, float]]) -> dict[str, Any]:
    counts = [round(count) for _, count in found]
    alone = [count - below for count, below in zip(counts, [0, *counts], strict=False)]
    bounds = [bound for bound, _ in found if math.isfinite(bound)]
    return {"count": str(counts[-1]), "bucketCounts": [str(count) for count in alone], "explicitBounds": bounds}


def _point(labels: Mapping[str, str], times: Times) -> dict[str, Any]:
    return {"attributes": _attributes(labels), **times}


def _attributes(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in values.items()]
