"""Counts of tasks and runs, for gauges and overviews."""

from typing import NamedTuple

from longline.model.states import ENDED, RunState
from longline.ports.records.frontier.frontier import TaskStore
from longline.ports.records.runs.runs import RunStore

OPEN = "open"
FATES = tuple(sorted(ENDED))


class Totals(NamedTuple):
    """Numbers of tasks, open and by fate, and of runs by state; empty groups are included with zero."""

    tasks: dict[str, int]
    runs: dict[str, int]


class Counts:
    """Counter of the tasks and runs in the database."""

    def __init__(self, tasks: TaskStore, runs: RunStore) -> None:
        self._tasks = tasks
        self._runs = runs

    async def take(self) -> Totals:
        """Return the present totals."""
        tasks = await self._tasks.counts()
        runs = await self._runs.counts()
        return Totals({s: tasks.get(s, 0) for s in (OPEN, *FATES)}, {s: runs.get(s, 0) for s in RunState})
