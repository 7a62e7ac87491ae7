"""The progress of sinks: shown, checked, and set right by the operator."""

from collections.abc import Collection

from longline.model.errors import BadInput, Conflict, NotFound, SinkFailing
from longline.model.search.item import UNINDEXED_KINDS, RunItem
from longline.model.sinks.sink import SinkLag, SinkRunLag, SkippedItem
from longline.ports.records.search import ItemStore
from longline.ports.sinks import SinkProgressStore

BATCH_SIZE = 100


class SinkProgress:
    """All operations of an operator on sinks."""

    def __init__(self, progress: SinkProgressStore, items: ItemStore) -> None:
        self._progress, self._items = progress, items

    async def lags(self) -> list[SinkLag]:
        """Return the progress of every sink."""
        return await self._progress.lags()

    async def get(self, sink: str) -> SinkLag:
        """Return the sink with this number or name; raise `NotFound` if there is none."""
        for lag in await self._progress.lags():
            if sink in (str(lag.id), lag.name):
                return lag
        raise NotFound("sink", text=f"there is no sink {sink}; longline sinks list shows all")

    async def runs(self, sink_id: int, limit: int) -> list[SinkRunLag]:
        """Return runs with items that wait for a sink, those with a refused item first."""
        return await self._progress.runs(sink_id, limit)

    async def skipped(self, sink_id: int, limit: int) -> list[SkippedItem]:
        """Return the items that a sink never gets."""
        return await self._progress.skipped(sink_id, limit)

    async def skip(self, sink_id: int, run_id: int, position: int) -> RunItem:
        """Leave out the next item of a run for a sink, and return the item; raise `Conflict` for any other item."""
        lag = await self._progress.run(sink_id, run_id)
        if lag is None:
            raise NotFound("run", text=f"run {run_id} does not go to sink {sink_id}")
        item = await self._next(lag)
        if item is None:
            raise Conflict(f"no item of run {run_id} waits for sink {sink_id}")
        if item.position != position:
            raise Conflict(
                f"the next item of run {run_id} for sink {sink_id} is at position {item.position}, not {position}"
            )
        if not await self._progress.skip(sink_id, lag, position):
            raise Conflict(
                f"sink {sink_id} went on in run {run_id} meanwhile; longline sinks show {sink_id} shows its position"
            )
        return item

    async def retry(self, sink_id: int) -> None:
        """Let a failed sink and its refused items be tried at once."""
        await self._progress.retry(sink_id)

    async def remove(self, sink: SinkLag) -> None:
        """Forget a sink and its positions; raise `Conflict` while a process has it in its settings."""
        if not await self._progress.remove(sink.id):
            raise Conflict(
                f"sink {sink.title} is in the settings of a running process; take it out of the setting sinks, "
                "and remove it three minutes after the restart"
            )

    async def check(self) -> str:
        """Return the number of sinks; raise `SinkFailing` with the names of sinks that have been failing."""
        sinks = [lag for lag in await self._progress.lags() if not lag.abandoned]
        failing = sorted(lag.title for lag in sinks if lag.failing)
        if failing:
            raise SinkFailing(f"failing sinks: {', '.join(failing)}")
        return f"{len(sinks)} sinks"

    async def _next(self, lag: SinkRunLag) -> RunItem | None:
        after = lag.position
        while found := await self._items.of_run(lag.run_id, after=after, until=lag.last, limit=BATCH_SIZE):
            for item in found:
                if item.kind not in UNINDEXED_KINDS:
                    return item
            after = found[-1].position
        return None


def check_sink_names(names: Collection[str], known: Collection[str]) -> None:
    """Raise `BadInput` for names of sinks that the settings do not have, or that stand twice."""
    if len(set(names)) < len(names):
        raise BadInput("sinks names a sink twice; name each once")
    for name in names:
        if name not in known:
            listed = f"known are {', '.join(sorted(known))}" if known else "no sink has a name"
            raise BadInput(f"there is no sink {name!r}; {listed}. The setting sinks gives names, as in NAME=URL")
