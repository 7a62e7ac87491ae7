"""Single crawls: one run from its seeds, which can be interrupted, resumed and widened."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.creation import create_run
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.engine.stored_secrets import Vault
from longline.model.errors import IllegalMove, NotFound, StaleLease
from longline.model.fetch.credentials import Credentials
from longline.model.frontier.task import NewTask, RefusedUrl
from longline.model.ids import new_id
from longline.model.runs.crawl_bounds import DEPTH, bounds_of
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import Fate, NewRun, RunKind, RunRow
from longline.model.states import RUN_ENDED, RunState
from longline.model.urls.url import parse
from longline.ports.records.frontier.frontier import HostSetting, WorkerStore
from longline.ports.records.frontier.refused_urls import RefusedUrlStore
from longline.ports.records.runs.runs import RunStore
from longline.services.crawls.crawl_options import LIMIT, CrawlRequest, revise, revise_credentials

log = logging.getLogger(__name__)

BATCH_SIZE = 1000
"""Number of refused URLs that are judged, and admitted in one transaction."""


class OpenedRun(msgspec.Struct, frozen=True):
    """A run, and the token of its lease: None when another process holds the run or the run has ended.

    `taken_up` is the number of URLs that earlier bounds refused and the present ones admitted.
    """

    run: RunRow
    resumed: bool
    token: int | None
    taken_up: int = 0


@dataclass(frozen=True, slots=True)
class CrawlStores:
    """The stores of crawls: runs, workers, refused URLs, and the vault of headers and cookies."""

    runs: RunStore
    workers: WorkerStore
    refused_urls: RefusedUrlStore
    vault: Vault


class _PlannedRun(msgspec.Struct, frozen=True):
    """The plan and the budget of a run; `changed` when the stored ones differ or were not yet carried out."""

    plan: CrawlPlan
    budget: int | None
    changed: bool


class Crawls:
    """Opener and lease holder of crawl runs."""

    def __init__(self, lifecycle: Lifecycle, stores: CrawlStores) -> None:
        self._lifecycle, self._runs, self._workers = lifecycle, stores.runs, stores.workers
        self._refused_urls, self._vault = stores.refused_urls, stores.vault

    async def open(self, request: CrawlRequest, owner: int, lease_ms: int) -> OpenedRun:
        """Resume the last run from this seed, or start one; after a run that ended, a new one needs `again`.

        The given options replace those of the run. A run that has ended goes on if they admit URLs that were refused.
        """
        first = parse(request.plan.seeds[0]).href
        run = await self._runs.latest(RunKind.CRAWL, first)
        wanted = self._planned(run, request)
        if run is None or (run.state in RUN_ENDED and request.again):
            # Marked as widened until every seed is admitted: a crawl that dies before is opened to its end later.
            plan = msgspec.structs.replace(wanted.plan, widened=True)
            new = NewRun(new_id(), RunKind.CRAWL, plan.text(), first, budget=wanted.budget)
            run = await create_run(self._runs, new, "person")
            wanted = msgspec.structs.replace(wanted, changed=True)
            return await self._hold(run, wanted, owner, lease_ms)
        if run.state not in RUN_ENDED:
            opened = await self._hold(run, wanted, owner, lease_ms)
            return msgspec.structs.replace(opened, resumed=True)
        taken_up = await self._carry_out(run, wanted) if run.state != RunState.CANCELLED else 0
        run = await self.get(run.id)
        if run.state in RUN_ENDED:
            return OpenedRun(run, resumed=True, token=None)
        held = await self._hold(run, msgspec.structs.replace(wanted, changed=False), owner, lease_ms)
        return msgspec.structs.replace(held, resumed=True, taken_up=taken_up)

    async def _hold(self, run: RunRow, wanted: _PlannedRun, owner: int, lease_ms: int) -> OpenedRun:
        """Lease a run that has not ended, and carry out its plan."""
        name = "start" if run.state == RunState.QUEUED else "adopt"
        order = MoveRequest("run", run.id, name, "worker", owner=owner, lease_ms=lease_ms, reason="crawl")
        try:
            standing = await self._lifecycle.move(order)
        except StaleLease:
            raise await self._held(run.id) from None
        taken_up = await self._carry_out(run, wanted)
        return OpenedRun(await self.get(run.id), resumed=False, token=standing.token, taken_up=taken_up)

    def _planned(self, run: RunRow | None, request: CrawlRequest) -> _PlannedRun:
        """Return the plan of a run with the given options of the command, or that of the command without a run."""
        if run is None:
            plan, credentials, budget = request.plan, request.credentials, request.limit
            return _PlannedRun(self._locked(plan, credentials), budget, changed=True)
        stored = CrawlPlan.read(run.plan)
        budget = request.limit if LIMIT in request.given else run.budget
        before = Credentials.read(self._vault.unlock(stored.fetch.credentials))
        after = revise_credentials(before, request)
        plan = msgspec.structs.replace(revise(stored, request), widened=False)
        if after != before:
            plan = self._locked(plan, after)
        # A run whose opening was interrupted may have no seed yet, however old its plan is.
        changed = plan != stored or budget != run.budget or not run.admitted
        return _PlannedRun(plan, budget, changed)

    def _locked(self, plan: CrawlPlan, credentials: Credentials) -> CrawlPlan:
        locked = msgspec.structs.replace(plan.fetch, credentials=self._vault.lock(credentials.text()))
        return msgspec.structs.replace(plan, fetch=locked)

    async def _carry_out(self, run: RunRow, wanted: _PlannedRun) -> int:
        """Store a changed plan and admit its seeds and the URLs that only the former plan refused; return these.

        The plan is marked as widened meanwhile, so that a crawl that dies here goes on here.
        """
        if not wanted.changed:
            return 0
        stored, plan = CrawlPlan.read(run.plan), wanted.plan
        widened = msgspec.structs.replace(plan, widened=True)
        await self._runs.revise(run.id, widened.text(), wanted.budget)
        known = () if stored.widened or not run.admitted else stored.seeds
        new = [seed(url, run.id, plan) for url in plan.seeds if url not in known]
        if new:
            await self._lifecycle.runs.extend(run.id, [task for task, _ in new], [host for _, host in new])
        taken_up = await self._take_up(run.id, plan)
        await self._runs.revise(run.id, plan.text(), wanted.budget)
        return taken_up

    async def _take_up(self, run_id: int, plan: CrawlPlan) -> int:
        """Admit the refused URLs that belong to the plan, the shallowest first; return how many were new."""
        taken_up = 0
        for depth in await self._refused_urls.depths(run_id):
            after = b""
            while batch := await self._refused_urls.find(run_id, depth, after, BATCH_SIZE):
                after = batch[-1].task.key
                taken_up += await self._judge_again(run_id, batch, plan)
        return taken_up

    async def _judge_again(self, run_id: int, batch: Sequence[RefusedUrl], plan: CrawlPlan) -> int:
        bounds, wanted, reasons = bounds_of(plan.bounds), list[NewTask](), dict[bytes, str]()
        for one in batch:
            too_deep = one.task.depth > plan.bounds.max_depth
            reason = bounds.refusal(parse(one.task.url)) or (DEPTH if too_deep else None)
            if reason is None:
                wanted.append(one.task)
            elif reason != one.reason:
                reasons[one.task.key] = reason
        if reasons:
            await self._refused_urls.change_reasons(run_id, reasons)
        if not wanted:
            return 0
        politeness = plan.politeness
        hosts = {task.host for task in wanted}
        settings = [HostSetting(host, politeness.delay_ms, politeness.concurrency) for host in sorted(hosts)]
        return (await self._lifecycle.runs.extend(run_id, wanted, settings)).new

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

    async def dropped(self, run_id: int) -> int:
        """Return how many links the bounds of the run refused after it had stored as many URLs as it may."""
        return await self._refused_urls.dropped(run_id)

    async def refused(self, run_id: int) -> dict[str, int]:
        """Return how many URLs the bounds of the run refused, by reason; each URL counts once."""
        return await self._refused_urls.counts(run_id)

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
