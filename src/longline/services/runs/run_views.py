"""Runs of all kinds, for pages: lists by key, and one run whole."""

from collections.abc import Sequence

import msgspec

from longline.model.errors import NotFound
from longline.model.frontier.reasons import WITHOUT_REQUEST
from longline.model.runs.run import COUNTED_APART, Fate, RequestSum
from longline.model.runs.run_pace import MIN_LIFE_MS, PacePoint, pace_points, step_of_life
from longline.model.runs.run_view import MAX_COUNTED_TASKS, HostTasks, RunQuery, RunView
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import RunStore, RunViewStore


class RunPage(msgspec.Struct, frozen=True):
    """A page of a list of runs, newest first; `older` and `newer` are the keys of its neighbours, if there are any."""

    runs: list[RunView]
    older: int | None = None
    newer: int | None = None


class RunDetail(msgspec.Struct, frozen=True):
    """One run with the fates of its URLs, its requests, and its newest tasks by host."""

    run: RunView
    fates: list[Fate]
    requests: list[RequestSum]
    hosts: list[HostTasks]
    pace: list[PacePoint] | None = None
    """None for a run without a pace: it has not begun, was short, or has more tasks than are counted."""

    @property
    def refused(self) -> list[Fate]:
        """The URLs that were not admitted, by reason; they are no part of the sum."""
        return [fate for fate in self.fates if fate.fate == "refused"]

    @property
    def failures(self) -> list[Fate]:
        """The failed URLs, by reason."""
        return [fate for fate in self.fates if fate.fate == "failed"]

    @property
    def ended(self) -> list[Fate]:
        """The URLs that ended, by fate and reason; the counts add up to the URLs of the run that are not open."""
        return [fate for fate in self.fates if fate.fate not in COUNTED_APART]

    @property
    def bytes(self) -> int:
        """The bytes of all responses."""
        return sum(found.bytes for found in self.requests)


class RunPages:
    """Reader of runs for pages."""

    def __init__(self, views: RunViewStore, runs: RunStore, clock: Clock) -> None:
        self._views, self._runs, self._clock = views, runs, clock

    async def find(
        self, query: RunQuery, limit: int, *, before: int | None = None, after: int | None = None
    ) -> RunPage:
        """Return a page of chosen runs: the newest, those before a run, or those after a run."""
        if after is not None and not query.text:
            found = await self._views.newer(query, limit=limit + 1, after=after)
            runs = found[-limit:]
            return RunPage(runs, runs[-1].id if runs else None, runs[0].id if len(found) > limit else None)
        found = await self._views.find(query, limit=limit + 1, before=before)
        runs = found[:limit]
        newer = runs[0].id if runs and before is not None else None
        return RunPage(runs, runs[-1].id if len(found) > limit else None, newer)

    async def newest(self, query: RunQuery, limit: int) -> list[int]:
        """Return the ids of the newest chosen runs, the newest first."""
        return [run.id for run in await self._views.find(query, limit=limit)]

    async def counts(self) -> dict[str, int]:
        """Return the number of runs in each state, which is kept."""
        return await self._runs.counts()

    async def open(self, state: str, limit: int) -> list[RunView]:
        """Return queued or running runs, newest first."""
        return await self._views.open(state, limit=limit)

    async def get(self, run_id: int) -> RunView:
        """Return one run; raise `NotFound` for an unknown one."""
        run = await self._views.get(run_id)
        if run is None:
            raise NotFound("run", run_id)
        return run

    async def among(self, run_ids: Sequence[int]) -> list[RunView]:
        """Return the runs with these ids that are still there."""
        return await self._views.among(run_ids)

    async def detail(self, run_id: int) -> RunDetail:
        """Return one run whole; raise `NotFound` for an unknown one."""
        run = await self.get(run_id)
        fates, requests = await self._runs.fates(run_id), await self._views.requests(run_id)
        requests = [one for one in requests if one.status or one.reason not in WITHOUT_REQUEST]
        return RunDetail(run, fates, requests, await self._views.hosts(run_id), await self._pace(run))

    async def _pace(self, run: RunView) -> list[PacePoint] | None:
        begin, life = run.started_at, run.lasts(self._clock.now())
        if begin is None or life is None or life < MIN_LIFE_MS or run.standing or run.admitted > MAX_COUNTED_TASKS:
            return None
        step = step_of_life(life)
        return pace_points(await self._views.pace(run.id, begin, step), begin, begin + life, step)

    async def failed_tasks(self, run_id: int, limit: int) -> Sequence[int]:
        """Return the ids of failed tasks of a run, the oldest first."""
        return await self._views.failed(run_id, limit=limit)
