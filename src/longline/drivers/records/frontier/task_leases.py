"""Tasks leased one by one, on either engine."""

import secrets
from collections.abc import Sequence

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.frontier.lapsed_leases import disown_offers, reap_offers
from longline.drivers.records.frontier.worker_report import (
    StaleReport,
    TaskPlace,
    lock_hosts,
    rest_tasks,
    without_repeats,
    write_links,
)
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.search.found_series import log_finds, note_series
from longline.drivers.records.search.item_versions import put
from longline.model.frontier.task import BOT, ClaimedTask, Outcome
from longline.model.runs.run import WITHOUT_ITEM
from longline.model.states import TaskState
from longline.ports.records.frontier.frontier import Admitted, ReportBatch, Reported, TaskLease

TOKEN_BITS = 52
"""Bits of a random token: an offer's row is deleted and made again, so a counted token could come twice."""


class TaskLeaseRecords:
    """Offers, and their leases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        async def work(tx: Transaction) -> list[TaskLease]:
            token = 1 + secrets.randbits(TOKEN_BITS)
            taken = await tx.all("take_offers", executor=executor, owner=owner, token=token, limit=limit, ttl=ttl_ms)
            facts = {t["id"]: t for t in await tx.batch("taken_tasks", [(row["id"],) for row in taken])}
            leases = []
            for row in taken:
                t = facts[row["id"]]
                task = ClaimedTask(
                    t["id"],
                    t["url"],
                    t["run_id"],
                    t["scope"],
                    t["depth"],
                    row["attempt"],
                    t["priority"],
                    t["due"],
                    max_attempts=t["max_attempts"],
                )
                leases.append(TaskLease(task, row["token"], row["due"], t["attempt"]))
            return sorted(leases, key=lambda lease: (lease.task.priority, lease.task.id))

        return await self._database.transact(work)

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        async def work(tx: Transaction) -> set[int]:
            await tx.batch("lock_offers", [(task_id,) for task_id, _ in held])
            rows = await tx.batch("renew_offers", held, owner=owner, ttl=ttl_ms)
            return {row["id"] for row in rows}

        return await self._database.transact(work)

    async def give(self, outcomes: Sequence[tuple[int, Outcome]], batch: ReportBatch) -> Reported:
        try:
            return await self._database.transact(lambda tx: _give(tx, outcomes, batch))
        except StaleReport as refused:
            return refused.reported

    async def reap(self, limit: int) -> int:
        return await self._database.transact(lambda tx: reap_offers(tx, limit))

    async def release_all(self, owner: int) -> int:
        return await self._database.transact(lambda tx: disown_offers(tx, owner))


async def _give(tx: Transaction, given: Sequence[tuple[int, Outcome]], batch: ReportBatch) -> Reported:
    """Write the report of tasks that were leased one by one: as `report.write`, fenced by each offer's token."""
    ledger = RunCounters()
    outcomes = without_repeats([outcome for _, outcome in given])
    placed = await place(tx, batch.admit)
    rows = await tx.batch("task_places", [(o.task.id,) for o in outcomes])
    places = {row["id"]: TaskPlace(row["host_id"], row["executor"]) for row in rows}
    rests = {row["id"]: row["state"] for row in rows}
    await lock_hosts(tx, (), [host_id for host_id, _ in placed] + [p.host_id for p in places.values()])
    await tx.batch("lock_offers", [(o.task.id,) for o in outcomes])
    closed = {row["id"] for row in await tx.batch("close_offers", [(o.task.id, token) for token, o in given])}
    if gone := frozenset(o.task.id for o in outcomes) - closed:
        raise StaleReport(Reported(gone=gone))
    for rest in sorted(set(rests.values())):
        await rest_tasks(tx, [o for o in outcomes if rests[o.task.id] == rest], places, rest, ledger)
    written = await put(tx, batch.items, ledger, [o.task.id for o in outcomes if o.page])
    series = await note_series(tx, batch.items)
    parsed = [(o.task.id, o.page.title, written.of(o.task.id)) for o in outcomes if o.page]
    await tx.batch("describe_pages", parsed)
    admitted, wake = await admit(tx, batch.admit, placed, ledger) if placed else (Admitted(0, 0, 0), {})
    await write_links(tx, batch)
    for outcome in outcomes:
        host_id, executor = places[outcome.task.id]
        if outcome.became == TaskState.PENDING and executor != BOT:
            due = max(tx.now, outcome.due)
            wake[host_id] = min(wake.get(host_id, due), due)
    await tx.batch("wake_lines", sorted(wake.items()))
    ledger.count_apart(batch.refused, stored=batch.refused_urls)
    ledger.count_apart(batch.without_item, WITHOUT_ITEM)
    ledger.spent(batch.cpu_ms, batch.memory_mb)
    ended = await ledger.write(tx, "worker")
    await log_finds(tx, series, written.new)
    return Reported(admitted=admitted, ended_runs=ended, done_runs=ledger.done_runs)
