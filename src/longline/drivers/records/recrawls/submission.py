"""Submission of recrawls and their next generations: tasks and side rows in one transaction of a few statements.

The number of statements does not depend on the number of URLs. The lines of the hosts are locked first, as in every
transaction that places tasks, so that two submissions of a URL come one after the other.
"""

from collections.abc import Mapping, Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.frontier.admission import admit, host_ids, place
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.errors import NotFound
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.model.frontier.task import NewTask
from longline.model.recrawls.parents import check_parent
from longline.model.recrawls.recrawl import KnownRecrawl, NewRecrawl, RecrawlSubmission, scope_of
from longline.ports.records.frontier.frontier import HostSetting

ADDED_COLUMNS = (
    "frequency",
    "every_ms",
    "recurring",
    "again_after_failure",
    "created_by",
    "batch_id",
    "parent_id",
)


async def submit(tx: Transaction, recrawls: Sequence[NewRecrawl], hosts: Sequence[HostSetting]) -> RecrawlSubmission:
    """Add the recrawls whose URLs are new; URLs that are known, or come twice, change nothing."""
    settings = sorted(set(hosts))
    await tx.batch("add_hosts", settings)
    await tx.batch("add_lines", [(setting.host,) for setting in settings])
    ids = await host_ids(tx, {one.host for one in recrawls})
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted(ids.values())])
    once = {one.url_hash: one for one in reversed(recrawls)}
    rows = await tx.batch("known_recrawls", [(url_hash,) for url_hash in sorted(once)])
    known = {row["url_hash"]: KnownRecrawl(row["id"], row["url_hash"], row["rest"]) for row in rows}
    fresh = [once[url_hash] for url_hash in sorted(once.keys() - known.keys())]
    made = await add(tx, fresh, ids, RunCounters(), "person")
    repeated = len(recrawls) - len(once)
    return RecrawlSubmission(made, tuple(known.values()), repeated, len(fresh) - len(made))


async def add(
    tx: Transaction, recrawls: Sequence[NewRecrawl], hosts: Mapping[str, int], ledger: RunCounters, actor: str
) -> dict[str, int]:
    """Add tasks and side rows under the locks of their hosts; return the ids by URL hash."""
    parents = await _parents(tx, recrawls)
    waits = {one.url_hash: one.parent_id is not None and parents[one.parent_id] != "completed" for one in recrawls}
    tasks = [_task(one, tx.now, waits=waits[one.url_hash]) for one in recrawls]
    _, wake = await admit(tx, tasks, await place(tx, tasks), ledger)
    rows = [_row(one, hosts[one.host], tx.now, waits=waits[one.url_hash]) for one in recrawls]
    made = {row["url_hash"]: row["id"] for row in await tx.batch("add_recrawls", rows)}
    for one in recrawls:
        if one.url_hash in made:
            ledger.count_listed_move("count_recrawls", one.source_id, None, "pending")
    await tx.batch("add_recrawl_hosts", sorted({(one.run_id, hosts[one.host]) for one in recrawls}))
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, actor)
    return made


async def _parents(tx: Transaction, recrawls: Sequence[NewRecrawl]) -> dict[int, str]:
    """Return the rests of the parents, locked until their children are stored; check that children may have them."""
    wanted = {one.parent_id: one.depth for one in recrawls if one.parent_id is not None}
    rows = {row["id"]: row for row in await tx.batch("lock_parents", [(parent_id,) for parent_id in sorted(wanted)])}
    for parent_id in wanted:
        row = rows.get(parent_id)
        if row is None:
            raise NotFound("task", parent_id)
        check_parent(parent_id, row["depth"], row["rest"])
    return {parent_id: row["rest"] for parent_id, row in rows.items()}


def _task(one: NewRecrawl, now: int, *, waits: bool) -> NewTask:
    due = one.due_at if one.due_at is not None and one.due_at > now else 0
    return NewTask(
        one.href,
        one.host,
        bytes.fromhex(one.url_hash),
        scope_of(one.generation),
        one.run_id,
        priority=one.priority,
        due=NEVER_DUE_MS if waits else due,
        single=True,
        max_attempts=one.max_attempts,
    )


def _row(one: NewRecrawl, host_id: int, now: int, *, waits: bool) -> tuple[object, ...]:
    key = (scope_of(one.generation), host_id, bytes.fromhex(one.url_hash), one.source_id)
    due_at = now if one.due_at is None else one.due_at
    facts = (getattr(one, name) for name in ADDED_COLUMNS)
    return (*key, one.url, one.url_hash, one.generation, due_at, *facts, one.depth, waits, one.webhook)
