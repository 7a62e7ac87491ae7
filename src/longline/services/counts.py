"""Counts of tasks and runs, for gauges and overviews."""

from typing import NamedTuple

from longline.model.sinks.sink import SinkLag
from longline.model.states import ENDED, RunState
from longline.ports.records.frontier import TaskStore
from longline.ports.records.runs import RunStore
from longline.ports.sinks import SinkStore

OPEN = "open"
FATES = tuple(sorted(ENDED))


class Totals(NamedTuple):
    """Numbers of tasks, open and by fate, and of runs by state, empty groups included with zero; and lags of sinks."""

    tasks: dict[str, int]
    runs: dict[str, int]
    sinks: list[SinkLag]


class Counts:
    """Counter of the tasks and runs in the database."""

    def __init__(self, tasks: TaskStore, runs: RunStore, sinks: SinkStore | None = None) -> None:
        self._tasks = tasks
        self._runs = runs
        self._sinks = sinks

    async def take(self) -> Totals:
        """Return the present totals."""
        tasks = await self._tasks.counts()
        runs = await self._runs.counts()
        sinks = await self._sinks.lags() if self._sinks else []
        return Totals({s: tasks.get(s, 0) for s in (OPEN, *FATES)}, {s: runs.get(s, 0) for s in RunState}, sinks)
