"""The frontier on either engine: admit, claim, renew; `worker_report.py` has the report."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import msgspec

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.frontier import worker_report
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.frontier.download_results import download_orders
from longline.drivers.records.frontier.due_runs import start_due
from longline.drivers.records.frontier.lapsed_leases import disown_hosts, reap_hosts
from longline.drivers.records.frontier.lifecycle_moves import move_row
from longline.drivers.records.frontier.refused_urls import extend
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.runs.runs import insert_run
from longline.model.callers.audit import State, audit_context
from longline.model.downloads.download import DownloadOrder
from longline.model.frontier.host import HostLease
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import ClaimedTask, KnownPage, NewTask
from longline.model.runs.run import NewRun
from longline.model.states import move
from longline.ports.records.frontier.frontier import Admitted, Change, ClaimRequest, HostSetting, ReportBatch, Reported

CANDIDATE_COLUMNS = ("host_id", "token", "due", "priority", "run_id")
"""Columns of `find_rivals`, in the order in which `pick_tasks` takes them."""


class ClaimRow(NamedTuple):
    """A row of the claim: a leased host and, unless the host has none, one of its tasks with the page known of it.

    The columns of `claim` and `pick_tasks` in their order: on SQLite six times faster than look-ups by name.
    """

    host_id: int
    host: str
    token: int
    delay_ms: int
    concurrency: int
    not_before: int
    pace_until: int
    task_id: int | None
    url: str
    run_id: int
    scope: int
    depth: int
    attempt: int
    priority: int
    due: int
    claims: int
    hops: int
    found_on: str | None
    known_task_id: int | None
    digest: str | None
    fetched_at: int
    etag: str | None
    last_modified: str | None
    home_id: int | None
    max_attempts: int | None
    credentials: str | None
    downloads: bool


class WaitingTask(NamedTuple):
    """A task of a leased host that waits, as far as the choice among the runs of the host needs it."""

    host_id: int
    token: int
    due: int
    priority: int
    run_id: int
    task_id: int


TASK_COLUMN = ClaimRow._fields.index("task_id")


class FrontierRecords:
    """Hosts, their leases, and the open URLs that go with them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_hosts(self, hosts: Sequence[HostSetting]) -> None:
        async def work(tx: Transaction) -> None:
            settings = sorted(set(hosts))
            await tx.batch("add_hosts", settings)
            await tx.batch("add_lines", [(setting.host,) for setting in settings])

        await self._database.transact(work)

    async def admit(self, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
        if audit_context("task") is None:
            return await self._database.transact(lambda tx: _admit(tx, tasks, refused))

        def audited_state(admitted: Admitted) -> State | None:
            return {"urls": [task.url for task in tasks]} if admitted.new else None

        return await audited_many(self._database, "task", audited_state, lambda tx: _admit(tx, tasks, refused))

    async def extend(self, run_id: int, tasks: Sequence[NewTask]) -> Admitted:
        return await self._database.transact(lambda tx: extend(tx, run_id, tasks))

    async def begin(self, run: NewRun, tasks: Sequence[NewTask], reason: str) -> int:
        async def work(tx: Transaction) -> int:
            run_id = await begin_run(tx, run, reason)
            # No other transaction can wait for the run yet: the hosts may be locked after it.
            await _admit(tx, [msgspec.structs.replace(task, scope=run_id, run_id=run_id) for task in tasks], {})
            return run_id

        return await self._database.transact(work)

    async def start_due(self, run_id: int, tasks: Sequence[NewTask], reason: str) -> bool:
        return await self._database.transact(lambda tx: start_due(tx, run_id, tasks, reason))

    async def claim(self, request: ClaimRequest) -> list[HostLease]:
        tasks, ttl_ms, held = request.tasks, request.ttl_ms, request.held
        asked = {"owner": request.owner, "hosts": request.hosts, "ttl": ttl_ms, "waited": request.waited_ms}
        asked["downloads"] = request.downloads

        async def work(tx: Transaction) -> list[HostLease]:
            if tx.engine == "pg":
                own = {"held": [host_id for host_id, _ in held], "tokens": [token for _, token in held]}
                rows: Sequence[Any] = await tx.all("claim", tasks=tasks, **asked, **own)
            else:
                leased = await tx.all("lease_hosts", **asked)
                own_hosts = {"owner": request.owner, "downloads": request.downloads}
                more = await tx.batch("still_held", held, **own_hosts) if len(leased) < request.hosts else ()
                rows = await _picked(tx, [(r["host_id"], r["token"]) for r in (*leased, *more)], tasks)
            # Hosts without downloads, which are nearly all, cost no further statement.
            orders = await download_orders(tx, [row[TASK_COLUMN] for row in rows if row[-1] and row[TASK_COLUMN]])
            return [_lease(list(group), tx.now + ttl_ms, orders) for _, group in groupby(rows, itemgetter(0))]

        # On PostgreSQL the claim is one statement, which needs no transaction.
        return await (self._database.read if self._database.engine == "pg" else self._database.transact)(work)

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        async def work(tx: Transaction) -> set[int]:
            await tx.batch("lock_lines", sorted((host_id,) for host_id, _ in held))
            rows = await tx.batch("renew_hosts", held, owner=owner, ttl=ttl_ms)
            return {row["host_id"] for row in rows}

        return await self._database.transact(work)

    async def report(self, batch: ReportBatch) -> Reported:
        try:
            return await self._database.transact(lambda tx: worker_report.write(tx, batch))
        except worker_report.StaleReport as refused:
            return refused.reported

    async def reap(self, limit: int) -> list[int]:
        return await self._database.transact(lambda tx: reap_hosts(tx, limit))

    async def bound_pauses(self, most_ms: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("bound_pauses", most=most_ms))

        return await self._database.transact(work)

    async def release_all(self, owner: int) -> int:
        return await self._database.transact(lambda tx: disown_hosts(tx, owner))


async def begin_run(tx: Transaction, run: NewRun, reason: str) -> int:
    """Make a run and start it; return its id."""
    row = await insert_run(tx, run, "scheduler")
    run_id: int = row["id"]
    rule = move("run", "start")
    await move_row(tx, Change("run", run_id, rule.name, row["state"], rule.became, "scheduler", reason))
    return run_id


async def _admit(tx: Transaction, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
    ledger = RunCounters()
    ledger.count_apart(refused)
    placed = await place(tx, tasks)
    await tx.batch("lock_lines", [(h,) for h in sorted({h for h, _ in placed})])
    admitted, wake = await admit(tx, tasks, placed, ledger)
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, "worker")
    return admitted


async def _picked(tx: Transaction, leased: Sequence[tuple[int, int]], tasks: int) -> list[ClaimRow]:
    """Pick and mark tasks of leased hosts, in several statements; for SQLite."""
    rivals = [tuple(r[c] for c in CANDIDATE_COLUMNS) for r in await tx.batch("find_rivals", leased, tasks=tasks)]
    busy = {host_id for host_id, *_ in rivals}
    # Where runs compete for a host, their tasks are chosen first: all columns are read only of those that are taken.
    chosen = await _chosen(tx, rivals, tasks) if len(rivals) > len(busy) else []
    rest = [(host_id, token, None, None, None) for host_id, token in leased if host_id not in busy]
    alone = rest if chosen else [*rivals, *rest]
    rows = list(map(ClaimRow._make, await tx.batch("pick_tasks", alone, tasks=tasks)))
    if chosen:
        read = {row[TASK_COLUMN]: ClaimRow._make(row) for row in await tx.batch("read_queued", chosen)}
        rows += (read[task.task_id] for task in chosen)
        rows += await _without_task(tx, busy - {row.host_id for row in rows}, rivals)
    marks = [(r.token, r.host_id, r.due, r.priority, r.run_id, r.task_id) for r in rows if r.task_id is not None]
    await tx.batch("mark_tasks", marks)
    return sorted(rows, key=itemgetter(0))  # stable: the tasks of a host stay in their order


async def _chosen(tx: Transaction, rivals: Sequence[tuple[Any, ...]], tasks: int) -> list[WaitingTask]:
    """Return the tasks to be taken, in order, of each host."""
    queued = map(WaitingTask._make, await tx.batch("find_queued", sorted(rivals, key=itemgetter(0)), tasks=tasks))
    return [task for _, group in groupby(queued, itemgetter(0)) for task in _in_turn(list(group), tasks)]


async def _without_task(tx: Transaction, host_ids: Set[int], rivals: Sequence[tuple[Any, ...]]) -> list[ClaimRow]:
    """Return a row for each host whose rivals have all of their tasks in hand."""
    tokens = {rival[0]: rival[1] for rival in rivals if rival[0] in host_ids}
    bare = [(host_id, token, None, None, None) for host_id, token in tokens.items()]
    return list(map(ClaimRow._make, await tx.batch("pick_tasks", bare, tasks=1)))


def _in_turn(queued: list[WaitingTask], tasks: int) -> list[WaitingTask]:
    """Order one host's tasks as PostgreSQL's claim: by priority, and each run's first before any run's second."""
    queued.sort(key=attrgetter("task_id"))
    runs: defaultdict[int, set[int]] = defaultdict(set)
    for r in queued:
        runs[r.priority].add(r.run_id)
    if len(runs) == 1 and all(len(rivals) == 1 for rivals in runs.values()):
        return queued[:tasks]
    nth = {(priority, run): n for priority, rivals in runs.items() for n, run in enumerate(sorted(rivals), 1)}
    rounds: Counter[tuple[int, int]] = Counter()
    placed = []
    for r in queued:
        who = r.priority, r.run_id
        rounds[who] += 1
        turn = (nth[who] + r.token // 2) % len(runs[r.priority])
        placed.append(((r.priority, rounds[who], turn, r.task_id), r))
    return [row for _, row in sorted(placed)[:tasks]]


def _lease(rows: Sequence[Any], until: int, orders: Mapping[int, DownloadOrder]) -> HostLease:
    """Return one host's rows, with the columns of `ClaimRow`, as a lease."""
    host_id, host, token, delay_ms, concurrency, not_before, pace_until, *_ = rows[0]
    tasks = tuple(_claimed(row) for row in rows if row[TASK_COLUMN] is not None)
    if orders:
        tasks = tuple(msgspec.structs.replace(task, download=orders.get(task.id)) for task in tasks)
    return HostLease(host_id, host, token, until, delay_ms, concurrency, not_before, tasks, pace_until)


def _claimed(row: Any) -> ClaimedTask:
    """Return the task of a row with the columns of `ClaimRow`."""
    # One assignment of all columns: a ClaimRow for each task took a tenth of the claim.
    (_, _, _, _, _, _, _, task_id, url, run_id, scope, depth, attempt, priority, due, claims, hops, found_on,
     known_id, digest, fetched_at, etag, last_modified, home_id, max_attempts, credentials, _) = row  # fmt: skip
    known = None
    # A task's own page is no help to a run: the next page replaces it. The standing frontier only needs to know that
    # the page has not changed.
    if known_id is not None and digest is not None and (known_id != task_id or scope == SCOPE):
        known = KnownPage(known_id, digest, fetched_at, etag, last_modified)
    return ClaimedTask(
        task_id, url, run_id, scope, depth, attempt, priority, due, claims, hops,
        known, found_on, home_id, max_attempts, credentials,
    )  # fmt: skip
