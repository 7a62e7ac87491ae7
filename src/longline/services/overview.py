"""The overview of the platform: its throughput, its queue, its open runs, and everything that needs a person."""

import msgspec

from longline.model.metrics.metric import QueueFigures
from longline.model.metrics.throughput import ThroughputWindow
from longline.model.proxies.source_alerts import AlertRow
from longline.model.runs.run_view import RunView
from longline.model.sources.source import FailingSource
from longline.model.states import RunState
from longline.ports.records.frontier.frontier import QueueFigureStore
from longline.ports.records.sources import FailingSourceStore
from longline.services.health import Health, Report
from longline.services.metrics.platform_alerts import PlatformAlerts
from longline.services.metrics.task_and_run_counts import Counts, Totals
from longline.services.metrics.throughput import Throughput, ThroughputView
from longline.services.metrics.worker_liveness import WorkerLiveness
from longline.services.runs.run_views import RunPages

MAX_RUNNING = 8
MAX_FAILING = 6


class OverviewParts(msgspec.Struct, frozen=True):
    """The services and stores that the overview reads."""

    throughput: Throughput
    counts: Counts
    queue: QueueFigureStore
    runs: RunPages
    failing: FailingSourceStore
    alerts: PlatformAlerts
    health: Health
    workers: WorkerLiveness


class OverviewView(msgspec.Struct, frozen=True):
    """The platform as it is now."""

    throughput: ThroughputView
    totals: Totals
    queue: QueueFigures
    running: list[RunView]
    failing: list[FailingSource]
    alerts: list[AlertRow]
    health: Report
    workers: dict[str, int]


class Overview:
    """Reader of the overview. Every figure is kept or bounded: the cost does not grow with tasks and runs."""

    def __init__(self, parts: OverviewParts) -> None:
        self._parts = parts

    async def read(self, window: ThroughputWindow) -> OverviewView:
        """Return the platform as it is now, with the throughput of a window."""
        parts = self._parts
        return OverviewView(
            await parts.throughput.read(window),
            await parts.counts.take(),
            await parts.queue.queue_figures(),
            await parts.runs.open(RunState.RUNNING, MAX_RUNNING),
            await parts.failing.find(limit=MAX_FAILING),
            await parts.alerts.raised(),
            await parts.health.report(),
            await parts.workers.alive(),
        )
