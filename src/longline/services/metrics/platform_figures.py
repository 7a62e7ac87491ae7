"""Figures of the platform in operation: the counters of all processes, the queue, workers and the disk."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from longline.model.metrics.metric import QueueFigures
from longline.model.sinks.sink import SinkLag
from longline.ports.records.frontier.frontier import QueueFigureStore
from longline.ports.records.metrics import CounterStore
from longline.ports.sinks import SinkProgressStore
from longline.services.metrics.worker_liveness import WorkerLiveness


class PlatformFigures(NamedTuple):
    """Figures of one moment."""

    counters: Mapping[str, int]
    queue: QueueFigures
    workers: Mapping[str, int]
    free_disk_bytes: int
    connections: Mapping[str, int]
    sinks: Sequence[SinkLag] = ()


class PlatformFigureReader:
    """Reader of the figures; `free_disk_bytes` returns the free space of the data folder."""

    def __init__(
        self,
        counters: CounterStore,
        queue: QueueFigureStore,
        workers: WorkerLiveness,
        sinks: SinkProgressStore,
        free_disk_bytes: Callable[[], int],
    ) -> None:
        self._counters, self._queue, self._workers, self._sinks = counters, queue, workers, sinks
        self._free_disk_bytes = free_disk_bytes

    async def take(self) -> PlatformFigures:
        """Return the present figures."""
        return PlatformFigures(
            await self._counters.all(),
            await self._queue.queue_figures(),
            await self._workers.alive(),
            self._free_disk_bytes(),
            self._queue.connections(),
            await self._sinks.lags(),
        )
