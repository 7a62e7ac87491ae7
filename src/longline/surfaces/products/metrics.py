"""Metrics of the product-tasks API, for `/metrics`."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Gauge

RESTS = ("pending", "downloaded", "queued_parse", "completed", "failed", "paused", "cancelled")
"""States at which a task can stay; tasks that are due or in a worker's hand are pending."""


class ProductMetrics:
    """Gauges of tasks, in the given registry; they are read from kept counts at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._tasks = Gauge("longline_product_tasks", "Tasks there are.", ("status",), registry=registry)

    def set_tasks(self, counts: Mapping[str, int]) -> None:
        """Show the number of tasks at each rest."""
        for rest in RESTS:
            self._tasks.labels(rest).set(counts.get(rest, 0))
