from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from longline.model.metrics.metric import COUNTED, FETCH_SECONDS, FETCHES, QueueFigures
from longline.model.sinks.sink import SinkLag
from longline.services.metrics.platform_figures import PlatformFigures
from longline.surfaces.platform.platform_metrics import GAUGES, SINKS, OperationMetrics


class Taken:
    """A reader that returns the given figures."""

    async def take(self) -> PlatformFigures:
        counters = {FETCHES.key("2xx", "ok", "other"): 3, FETCH_SECONDS.bucket_key(0.2): 2}
        queue = QueueFigures(4, 1, 2, 5, 6, 0, 7, 61_500)
        same = "https://a.example/"
        first = SinkLag(id=1, label=same, waiting=4, delivered=9, failures=2, held_runs=3)
        sinks = [first, SinkLag(id=2, label=same, delivered=5)]
        return PlatformFigures(counters, queue, {"fetch": 2, "parse": 1}, 99, {"busy": 1, "idle": 3}, sinks)


async def test_figures_are_exported_once_for_each_snapshot():
    registry, reader = CollectorRegistry(), Taken()
    given: Any = reader
    metrics = OperationMetrics(given, registry)
    assert generate_latest(registry) == b"", "no metric is exported before a snapshot"
    await metrics.refresh()
    families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    assert {family.name for family in families} == {metric.name for metric in (*COUNTED, *GAUGES, *SINKS)}
    found = {(s.name, *(s.labels[k] for k in sorted(s.labels))): s.value for family in families for s in family.samples}
    assert found["longline_fetches_total", "other", "ok", "2xx"] == 3
    assert (found["longline_fetch_seconds_bucket", "0.1"], found["longline_fetch_seconds_bucket", "0.25"]) == (0, 2)
    assert [found["longline_hosts", state] for state in ("ready", "late", "waiting", "held")] == [4, 1, 2, 5]
    assert (found[("longline_oldest_due_seconds",)], found["longline_workers", "fetch"]) == (61.5, 2)
    sinks = [("1", "https://a.example/"), ("2", "https://a.example/")]
    assert [found["longline_sink_waiting_items", *sink] for sink in sinks] == [4, 0]
    assert [found["longline_sink_held_runs", *sink] for sink in sinks] == [3, 0]
    assert [found["longline_sink_failures", *sink] for sink in sinks] == [2, 0]
    assert [found["longline_sink_delivered_items_total", *sink] for sink in sinks] == [9, 5]
    assert generate_latest(registry) == b"", "old figures are not shown again"
