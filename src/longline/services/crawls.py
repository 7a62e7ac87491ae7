"""Single crawls: one run from one seed, which can be interrupted and resumed."""

import logging

import msgspec

from longline.engine.frontier.admit import seed
from longline.engine.lifecycle.creation import create_run
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import IllegalMove, NotFound, StaleLease
from longline.model.ids import new_id
from longline.model.runs.plan import CrawlPlan
from longline.model.runs.run import Fate, NewRun, RunKind, RunRow
from longline.model.states import RUN_ENDED, RunState
from longline.model.url import parse
from longline.ports.records.frontier import WorkerStore
from longline.ports.records.runs import RunStore

log = logging.getLogger(__name__)


class OpenedRun(msgspec.Struct, frozen=True):
    """A run, and the token of its lease: None when another process holds the run or the run has ended."""

    run: RunRow
    resumed: bool
    token: int | None


class Crawls:
    """Opener and lease holder of crawl runs."""

    def __init__(self, lifecycle: Lifecycle, runs: RunStore, workers: WorkerStore) -> None:
        self._lifecycle, self._runs, self._workers = lifecycle, runs, workers

    async def open(self, plan: CrawlPlan, budget: int | None, owner: int, lease_ms: int, *, again: bool) -> OpenedRun:
        """Resume the last run from this seed, or start one; after a run that ended, a new one needs `again`."""
        first = parse(plan.seeds[0]).href
        run = await self._runs.latest(RunKind.CRAWL, first)
        if run is not None and run.state in RUN_ENDED and not again:
            return OpenedRun(run, resumed=True, token=None)
        resumed = run is not None and run.state not in RUN_ENDED
        if run is None or not resumed:
            run = await create_run(
                self._runs, NewRun(new_id(), RunKind.CRAWL, plan.text(), first, budget=budget), "person"
            )
        name = "start" if run.state == RunState.QUEUED else "adopt"
        order = MoveRequest("run", run.id, name, "worker", owner=owner, lease_ms=lease_ms, reason="crawl")
        try:
            standing = await self._lifecycle.move(order)
        except StaleLease:
            raise await self._held(run.id) from None
        if not run.admitted:
            plan = CrawlPlan.read(run.plan)
            seeds = [seed(url, run.id, plan) for url in plan.seeds]
            await self._lifecycle.admit([task for task, _ in seeds], [host for _, host in seeds])
        return OpenedRun(await self.get(run.id), resumed, standing.token)

    async def _held(self, run_id: int) -> StaleLease:
        """Return the refusal of a run that another process works on."""
        owner = (await self.get(run_id)).owner
        names = [worker.name for worker in await self._workers.find() if worker.id == owner]
        host, _, pid = names[0].rpartition(":") if names else ("", "", "")
        process = f" (pid {pid} on {host})" if names else ""
        return StaleLease(f"another crawl runs in this folder{process}; wait for its end, or name another with --out")

    async def get(self, run_id: int) -> RunRow:
        """Return a run as it stands."""
        run = await self._runs.get(run_id)
        if run is None:
            raise NotFound("run", run_id)
        return run

    async def fates(self, run_id: int) -> list[Fate]:
        """Return how many of the run's URLs ended, by fate and reason."""
        return await self._runs.fates(run_id)

    async def renew(self, opened: OpenedRun, lease_ms: int) -> bool:
        """Renew the lease on a run; return False when the run has ended or another process holds it."""
        if opened.token is None:
            return False
        return await self._lifecycle.renew_one("run", opened.run.id, opened.token, lease_ms)

    async def hold(self, opened: OpenedRun, owner: int, lease_ms: int) -> OpenedRun:
        """Renew the lease on a run, or take the run back after its lease has lapsed.

        The result has no token while another process holds the run, and when the run has ended. URLs have leases of
        their own: the caller may go on working beside the other process, and call again.
        """
        if await self.renew(opened, lease_ms):
            return opened
        order = MoveRequest(
            "run", opened.run.id, "adopt", "worker", owner=owner, lease_ms=lease_ms, reason="taken back"
        )
        try:
            standing = await self._lifecycle.move(order)
        except (StaleLease, IllegalMove) as refusal:
            log.info("run is not leased by this process", extra={"run_id": opened.run.id, "why": str(refusal)})
            return msgspec.structs.replace(opened, token=None)
        return msgspec.structs.replace(opened, token=standing.token)

    async def release(self, opened: OpenedRun) -> None:
        """Release the lease on a run; a run that has not ended can be resumed."""
        if opened.token is not None:
            await self._lifecycle.free_run(opened.run.id, opened.token)
