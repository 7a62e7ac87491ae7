"""Holds of sources: the switch that stops every request of a source, and its daily maintenance."""

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.lifecycle.runs import Call
from longline.model.recrawls.hold import Hold, HoldWindow
from longline.model.sources.recrawl_settings import DailyWindow
from longline.ports.records.recrawls.recrawls import HoldStore


class Holds:
    """The holds of the recrawls of sources."""

    def __init__(self, holds: HoldStore, runs: RecrawlRuns, call_workers: Call | None = None) -> None:
        self._holds, self._runs, self._call_workers = holds, runs, call_workers

    async def disable(self, source_id: int) -> None:
        """Begin no further request for recrawls of a source, from now on and within a second everywhere."""
        for run_id in await self._runs.held_with(source_id):
            await self._holds.hold(Hold(run_id, "disabled", 0))

    async def enable(self, source_id: int) -> None:
        """Fetch the recrawls of a source again."""
        lifted = [await self._holds.lift(run_id, "disabled") for run_id in await self._runs.held_with(source_id)]
        if any(lifted):
            await self._call()

    async def set_window(self, source_id: int, window: DailyWindow | None) -> None:
        """Begin no request for recrawls of a source at these times of the day; None ends the maintenance."""
        for run_id in await self._runs.held_with(source_id):
            held = None if window is None else HoldWindow(run_id, window.from_second, window.to_second)
            await self._holds.set_window(run_id, held)
        await self._call()

    def forget(self, source_id: int) -> None:
        """Read the settings of a source again: they have changed."""
        self._runs.forget(source_id)

    async def _call(self) -> None:
        if self._call_workers is not None:
            await self._call_workers()
