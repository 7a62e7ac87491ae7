"""How much there is of everything, for gauges and overviews."""

from typing import NamedTuple

from longline.model.states import ENDED, RunState
from longline.ports.records.frontier import TaskStore
from longline.ports.records.runs import RunStore

OPEN = "open"
FATES = tuple(sorted(ENDED))


class Totals(NamedTuple):
    """Tasks, open or by how they ended, and runs by state; those without any are there with zero."""

    tasks: dict[str, int]
    runs: dict[str, int]


class Counts:
    """Counts what the records hold at the moment of asking."""

    def __init__(self, tasks: TaskStore, runs: RunStore) -> None:
        self._tasks = tasks
        self._runs = runs

    async def take(self) -> Totals:
        """The totals now."""
        tasks = await self._tasks.counts()
        runs = await self._runs.counts()
        return Totals({s: tasks.get(s, 0) for s in (OPEN, *FATES)}, {s: runs.get(s, 0) for s in RunState})
