"""Lists of runs for people: each run with the names of its source and its schedule."""

import msgspec

from longline.model.errors import BadInput
from longline.model.runs.run import RunKind, RunRow
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.schedules import ScheduleStore
from longline.ports.records.sources import SourceStore


class ListedRun(msgspec.Struct, frozen=True):
    """A run with the name of its source and the public id of its schedule; both are empty where there is none."""

    run: RunRow
    source: str = ""
    schedule: str = ""


class RunLists:
    """Reader of lists of runs."""

    def __init__(self, runs: RunStore, sources: SourceStore, schedules: ScheduleStore) -> None:
        self._runs, self._sources, self._schedules = runs, sources, schedules

    async def find(self, *, limit: int, kind: RunKind | None = RunKind.CRAWL) -> list[ListedRun]:
        """Return runs, newest first: those of a kind, or all of them."""
        found = await self._runs.find(limit=limit, kind=kind)
        sources = {i: await self._sources.get(i) for i in {run.source_id for run in found} if i is not None}
        schedules = {i: await self._schedules.get(i) for i in {run.schedule_id for run in found} if i is not None}
        names = {i: source.name for i, source in sources.items() if source is not None}
        ids = {i: schedule.uid for i, schedule in schedules.items() if schedule is not None}
        return [ListedRun(run, names.get(run.source_id or 0, ""), ids.get(run.schedule_id or 0, "")) for run in found]


def check_comparable(before: RunRow, after: RunRow) -> None:
    """Raise `BadInput` for runs whose items have nothing in common: runs of different sources or start URLs."""
    if _family(before) != _family(after):
        raise BadInput(
            f"run {before.id} ({before.seed}) and run {after.id} ({after.seed}) cannot be compared: "
            "they are of different sources or start URLs; longline runs lists all runs"
        )


def _family(run: RunRow) -> tuple[str, int]:
    """Return the source of a run or, without one, the first run from the same start URL."""
    return ("source", run.source_id) if run.source_id is not None else ("lineage", run.lineage or run.id)
