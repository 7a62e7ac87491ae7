"""The frontier on either engine: admit, claim, renew, reap; `report.py` has the report."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.frontier import report
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.frontier.moves import move_row
from longline.drivers.records.run_counters import RunCounters
from longline.drivers.records.runs import new_run_row
from longline.model.errors import Unavailable
from longline.model.frontier.host import HostLease
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import ClaimedTask, KnownPage, NewTask
from longline.model.runs.run import NewRun
from longline.model.states import move
from longline.ports.records.frontier import Admitted, Change, ClaimRequest, HostSetting, ReportBatch, Reported

RIVAL = ("host_id", "token", "due", "priority", "run_id")
"""Columns of `find_rivals`, in the order in which `pick_tasks` takes them."""


class FrontierRecords:
    """Hosts, their leases, and the open URLs that go with them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_hosts(self, hosts: Sequence[HostSetting]) -> None:
        async def work(tx: Transaction) -> None:
            rows = sorted({tuple(host) for host in hosts})
            await tx.batch("add_hosts", rows)
            await tx.batch("add_lines", [(row[0],) for row in rows])

        await self._database.transact(work)

    async def admit(self, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
        return await self._database.transact(lambda tx: _admit(tx, tasks, refused))

    async def begin(self, run: NewRun, tasks: Sequence[NewTask], reason: str) -> int:
        async def work(tx: Transaction) -> int:
            run_id = await _begin_run(tx, run, reason)
            # No other transaction can wait for the run yet: the hosts may be locked after it.
            await _admit(tx, [msgspec.structs.replace(task, scope=run_id, run_id=run_id) for task in tasks], {})
            return run_id

        return await self._database.transact(work)

    async def claim(self, request: ClaimRequest) -> list[HostLease]:
        tasks, ttl_ms, held = request.tasks, request.ttl_ms, request.held
        asked = {"owner": request.owner, "hosts": request.hosts, "ttl": ttl_ms, "waited": request.waited_ms}

        async def work(tx: Transaction) -> list[HostLease]:
            if tx.engine == "pg":
                own = {"held": [host_id for host_id, _ in held], "tokens": [token for _, token in held]}
                rows = await tx.all("claim", tasks=tasks, **asked, **own)
            else:
                leased = await tx.all("lease_hosts", **asked)
                more = await tx.batch("still_held", held, owner=request.owner) if len(leased) < request.hosts else ()
                rows = await _picked(tx, [(r["host_id"], r["token"]) for r in (*leased, *more)], tasks)
            return [_lease(list(group), tx.now + ttl_ms) for _, group in groupby(rows, key=lambda r: r[0])]

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
            return await self._database.transact(lambda tx: report.write(tx, batch))
        except report.StaleReport as refused:
            return refused.reported

    async def reap(self, limit: int) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            return [row["host_id"] for row in await tx.all("reap_hosts", limit=limit)]

        return await self._database.transact(work)

    async def bound_pauses(self, most_ms: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("bound_pauses", most=most_ms))

        return await self._database.transact(work)

    async def release_all(self, owner: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("disown_hosts", owner=owner))

        return await self._database.transact(work)


async def _begin_run(tx: Transaction, run: NewRun, reason: str) -> int:
    """Make a run and start it; return its id."""
    row = await tx.one("add_run", **new_run_row(run))
    if row is None:
        raise Unavailable(f"the run of {run.seed} was not stored")
    run_id: int = row["id"]
    rule = move("run", "start")
    await move_row(tx, Change("run", run_id, rule.name, row["state"], rule.became, "planner", reason))
    return run_id


async def _admit(tx: Transaction, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
    ledger = RunCounters()
    ledger.refused(refused)
    placed = await place(tx, tasks)
    await tx.batch("lock_lines", [(h,) for h in sorted({h for h, _ in placed})])
    admitted, wake = await admit(tx, tasks, placed, ledger)
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, "worker")
    return admitted


async def _picked(tx: Transaction, leased: Sequence[tuple[int, int]], tasks: int) -> list[Row]:
    """Pick and mark tasks of leased hosts, in several statements; for SQLite."""
    rivals = [tuple(r[c] for c in RIVAL) for r in await tx.batch("find_rivals", leased, tasks=tasks)]
    busy = {rival[0] for rival in rivals}
    rivals += [(*lease, None, None, None) for lease in leased if lease[0] not in busy]
    picked = await tx.batch("pick_tasks", sorted(rivals, key=lambda rival: rival[0]), tasks=tasks)
    rows = [row for _, group in groupby(picked, key=lambda r: r[0]) for row in _in_turn(list(group), tasks)]
    await tx.batch("mark_tasks", [(r[2], r[0], r[13], r[12], r[8], r[6]) for r in rows if r[6] is not None])
    return rows


def _in_turn(rows: list[Row], tasks: int) -> list[Row]:
    """Order one host's tasks as PostgreSQL's claim: by priority, and each run's first before any run's second."""
    # A rival with all tasks in hand has a row without a task; a host with only such rivals keeps one of the rows.
    rows = sorted((r for r in rows if r[6] is not None), key=lambda r: r[6]) or rows[:1]
    runs: defaultdict[int, set[int]] = defaultdict(set)
    for r in rows:
        runs[r[12]].add(r[8])
    if len(runs) == 1 and all(len(rivals) == 1 for rivals in runs.values()):
        return rows[:tasks]
    nth = {(priority, run): n for priority, rivals in runs.items() for n, run in enumerate(sorted(rivals), 1)}
    rounds: Counter[tuple[int, int]] = Counter()
    placed = []
    for r in rows:
        who = r[12], r[8]
        rounds[who] += 1
        placed.append((r[12], rounds[who], (nth[who] + r[2] // 2) % len(runs[r[12]]), r[6], r))
    return [place[4] for place in sorted(placed, key=lambda place: place[:4])[:tasks]]


def _lease(rows: list[Row], until: int) -> HostLease:
    """Return one host's rows as a lease. The columns are in the order of the claim."""
    first = rows[0]
    tasks = tuple(_claimed(r) for r in rows if r[6] is not None)
    return HostLease(first[0], first[1], first[2], until, first[3], first[4], first[5], tasks, first[22])


def _claimed(r: Row) -> ClaimedTask:
    # A task's own page is no help to a run: the next page replaces it. The standing frontier only needs to know that
    # the page has not changed.
    helps = r[17] is not None and (r[16] != r[6] or r[9] == SCOPE)
    known = KnownPage(r[16], r[17], r[18], r[19], r[20]) if helps else None
    return ClaimedTask(r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15], known, r[21])
