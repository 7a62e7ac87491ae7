"""Making and deleting tasks of bots, on either engine: for people, and for schedules that are due."""

import asyncio
from collections.abc import Sequence

from uuid_utils import uuid7

from longline.drivers.records.bots.outcomes import RestedTask, holdings, rest
from longline.drivers.records.bots.policies import schedule_of
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.frontier.admission import host_ids
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters
from longline.drivers.records.runs.runs import ensure
from longline.model.bots.bot_policy import BotPolicyRow, Planned
from longline.model.bots.bot_task import Deletion, NewBotTask, url_key
from longline.model.frontier.task import BOT
from longline.model.ids import new_id
from longline.model.patterns import Patterns
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import ENDED, TaskState, move
from longline.model.urls.url import parse
from longline.ports.records.frontier.frontier import HostSetting

HOST_END = ":"
"""Character between the name of a host and its port."""

BATCH_SIZE_URLS = 1000
"""Known URLs that are read and searched for a pattern at once."""


async def add(tasks: Sequence[NewBotTask], hosts: Sequence[HostSetting], tx: Transaction) -> list[int]:
    """Make tasks, with or without a schedule, and return their ids. The rows of schedules must be locked."""
    if not tasks:
        return []
    await tx.batch("add_hosts", sorted(set(hosts)))
    await tx.batch("add_lines", [(host,) for host in sorted({h.host for h in hosts})])
    ids = await host_ids(tx, {t.host for t in tasks})
    await tx.batch("know_bot_hosts", sorted((host_id, host) for host, host_id in ids.items()))
    run_id = await _standing_run(tx)
    born = TaskState(move("task", "admit").became)
    # A URL becomes a task many times, so each task has a key of its own.
    made = {uuid7().bytes: task for task in tasks}
    rows = [(ids[t.host], key, t.priority, t.url) for key, t in made.items()]
    task_ids = {bytes(r["key"]): r["id"] for r in await tx.batch("admit_bot_tasks", rows, run_id=run_id, state=born)}
    await tx.batch("add_bot_tasks", [_facts(task_ids[key], t) for key, t in made.items()])
    await tx.batch("offer_tasks", [(task_ids[k], BOT, ids[t.host], 0, t.priority, 0) for k, t in made.items()])
    ledger = RunCounters()
    ledger.count_moves((MovedTasks(i, run_id, None, born, "") for i in task_ids.values()), listed=False)
    await ledger.write(tx, "scheduler")
    return [task_ids[key] for key in made]


def _facts(task_id: int, t: NewBotTask) -> tuple[object, ...]:
    return (task_id, t.schedule_id, url_key(t.url), t.max_retries, t.lease_ms)


async def _standing_run(tx: Transaction) -> int:
    """Return the single run that all tasks of bots belong to. The run is never started, so it never ends."""
    row = await tx.one("standing_run", kind=RunKind.BOTS)
    if row is None:
        await ensure(tx, NewRun(new_id(), RunKind.BOTS, "{}"), "scheduler")
        row = await tx.one("standing_run", kind=RunKind.BOTS)
    assert row is not None
    return int(row["id"])


async def plan(limit: int, delay_ms: int, dry: bool, tx: Transaction) -> Planned:
    """Make a task for each due schedule, or for each known URL of its domain, unless there is an open one."""
    waiting = await tx.one("count_waiting_schedules")
    skipped = int(waiting["count"]) if waiting else 0
    due = [struct(row, BotPolicyRow) for row in await tx.all("due_bot_schedules", limit=limit)]
    wanted = [task for schedule in due for task in await _tasks(tx, schedule)]
    # After the schedules were locked: no other process makes tasks for them meanwhile.
    pairs = [(t.schedule_id, url_key(t.url)) for t in wanted]
    rows = await tx.batch("open_bot_tasks", pairs)
    open_now = {(row["schedule_id"], bytes(row["open_key"])) for row in rows}
    fresh = [t for t, pair in zip(wanted, pairs, strict=True) if pair not in open_now]
    if not dry:
        await add(fresh, [HostSetting(t.host, delay_ms, 1) for t in fresh], tx)
    return Planned(len(fresh), skipped + len(wanted) - len(fresh))


async def _tasks(tx: Transaction, s: BotPolicyRow) -> list[NewBotTask]:
    urls = [(parse(s.url).host, s.url)] if s.url else await _spread(tx, s)
    return [NewBotTask(url, host, s.priority, s.max_retries, s.lease_ms, s.schedule_id) for host, url in urls]


async def _spread(tx: Transaction, s: BotPolicyRow) -> list[tuple[str, str]]:
    """Return the known URLs of a domain in which the pattern of its schedule is found, with their hosts."""
    pattern, found, after = Patterns((s.pattern,)), list[tuple[str, str]](), ""
    while rows := await tx.all(
        "known_urls_of_domain", domain=s.domain, edge=HOST_END, after=after, limit=BATCH_SIZE_URLS
    ):
        # SQLite runs this code in its writer thread; PostgreSQL runs it in the event loop, which must not block.
        found += _found(pattern, rows) if tx.engine == "lite" else await asyncio.to_thread(_found, pattern, rows)
        after = rows[-1]["hash"]
    return found


def _found(pattern: Patterns, rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["host"], row["url"]) for row in rows if pattern.found_in(row["url"])]


async def drop(uid: str, tx: Transaction) -> list[str] | None:
    """Delete a schedule and cancel its open tasks; only the engine's own task rows stay, as history."""
    row = await schedule_of(tx, uid)
    if row is None:
        return None
    schedule_id = row.schedule_id
    await tx.batch("lock_bot_schedules", [(schedule_id,)])
    open_now = [r["task_id"] for r in await tx.all("open_tasks_of_schedule", schedule_id=schedule_id)]
    cancelled = TaskState(move("task", "cancel").became)
    held = await holdings(tx, open_now)
    await rest(tx, [RestedTask(h, cancelled, "schedule deleted", h.retries) for h in held.values()], "person")
    pages = [r["page_key"] for r in await tx.all("pages_of_schedule", schedule_id=schedule_id)]
    await tx.one("drop_bot_schedule", schedule_id=schedule_id)
    await tx.one("drop_schedule", schedule_id=schedule_id)
    return pages


async def delete(task_id: int, created_at: int, tx: Transaction) -> Deletion | None:
    """Delete a task that no bot holds, with its result; the engine's own task row stays as history."""
    await tx.batch("lock_offers", [(task_id,)])
    # A task that has ended has no offer to be locked.
    await tx.batch("lock_bot_tasks", [(task_id,)])
    holding = (await holdings(tx, [task_id])).get(task_id)
    if holding is None or holding.created_at != created_at:
        return None
    if holding.owner is not None:
        return Deletion(holder=holding.holder)
    if holding.state not in ENDED:
        cancelled = TaskState(move("task", "cancel").became)
        await rest(tx, [RestedTask(holding, cancelled, "task deleted", holding.retries)], "person")
    await tx.one("delete_bot_task", task_id=task_id)
    return Deletion(page_key=holding.page_key)
