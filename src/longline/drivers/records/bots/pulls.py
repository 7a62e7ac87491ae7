"""Pulls of bots: one transaction hands out the tasks for all pulls of a batch."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

import orjson

from longline.drivers.records.bots.outcomes import RestedTask, count_hours, holdings, rest
from longline.drivers.records.bots.task_creation import HOST_END
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.frontier.task_leases import TOKEN_BITS
from longline.model.bots.bot_task import LAPSED, LAPSED_ERROR, Pull, Pulled, PulledTask, after_lapse, exhausted
from longline.model.states import TaskState

MAX_GIVEN_UP_PER_PULL = 1000
"""Given-up tasks after which a pull stops searching; the next pull, or the sweep, gives up the others."""


async def pull(pulls: Sequence[Pull], tx: Transaction) -> list[Pulled]:
    """Hand out each task to one pull; among pulls of the same scope, the earliest gets the best tasks."""
    ids = await _bot_ids(tx, pulls)
    alike: defaultdict[tuple[str | None, str, str, bool], list[int]] = defaultdict(list)
    for n, one in enumerate(pulls):
        alike[one.needle, one.domains, one.names, one.reclaim].append(n)
    got: dict[int, Pulled] = {}
    given_up: set[int] = set()
    for _, places in sorted(alike.items(), key=lambda group: group[1]):
        got |= await _hand_out(tx, {n: pulls[n] for n in places}, ids, given_up)
    # Locks are taken in one order everywhere: offers, schedules, bots, runs.
    rests = await _exhausted_rests(tx, given_up) if given_up else []
    counts: defaultdict[int, list[int]] = defaultdict(list)
    for n, one in enumerate(pulls):
        counts[ids[one.bot]].append(len(got[n].tasks))
    await tx.batch("lock_bots", [(i,) for i in sorted(counts)])
    await tx.batch("count_pulls", [(i, sum(each)) for i, each in counts.items()])
    await count_hours(tx, [(i, len(each), sum(each), 0, 0, 0) for i, each in sorted(counts.items())])
    if rests:
        await rest(tx, rests, "upkeep")
    return [got[n] for n in range(len(pulls))]


async def _bot_ids(tx: Transaction, pulls: Sequence[Pull]) -> dict[str, int]:
    """Return the ids of bots by name; unknown bots are added."""
    ids = {one.bot: one.bot_id for one in pulls if one.bot_id is not None}
    strangers = [(name,) for name in sorted({one.bot for one in pulls} - ids.keys())]
    await tx.batch("meet_bots", strangers)
    return ids | {row["name"]: row["id"] for row in await tx.batch("bots_by_name", strangers)}


async def _hand_out(
    tx: Transaction, pulls: dict[int, Pull], ids: dict[str, int], given_up: set[int]
) -> dict[int, Pulled]:
    """Hand out tasks to the pulls of one scope, by number; add tasks that lapsed too often to `given_up`."""
    first = next(iter(pulls.values()))
    hosts = await _scope(tx, first)
    most = sum(one.limit for one in pulls.values())
    rows = iter(await _pick(tx, first.reclaim, hosts, most, given_up))
    dealt = {n: list(islice(rows, one.limit)) for n, one in pulls.items()}
    tasks = {n: [_task(row, pulls[n].lease_ms, tx.now) for row in each] for n, each in dealt.items()}
    token = 1 + secrets.randbits(TOKEN_BITS)
    held = [(t.id, -ids[pulls[n].bot], token, t.until) for n, each in tasks.items() for t in each]
    lapses = {row["id"]: _lapsed(row) for each in dealt.values() for row in each}
    await tx.batch("hold_offers", held)
    await tx.batch("hold_bot_tasks", [(t.id, t.held_ms, lapses[t.id]) for each in tasks.values() for t in each])
    holders = {row["owner"]: row["held"] for row in await tx.all("count_held", hosts=hosts)}
    everybody = sum(holders.values())
    return {
        n: Pulled(each, everybody - holders.get(-ids[pulls[n].bot], 0), sum(lapses[t.id] for t in each))
        for n, each in tasks.items()
    }


async def _pick(tx: Transaction, reclaim: bool, hosts: str | None, limit: int, given_up: set[int]) -> list[Row]:
    """Return the best offers; pass over tasks that lapsed too often and add them to `given_up`."""
    passed: set[int] = set()
    while True:
        known = orjson.dumps(sorted(passed)).decode() if passed else None
        rows = await tx.all("pick_offers", reclaim=reclaim, hosts=hosts, limit=limit, passed=known)
        found = {row["id"] for row in rows if _lapsed(row) and exhausted(row["lapses"], row["max_retries"])}
        given_up |= found
        passed |= found
        if not found or len(passed) >= MAX_GIVEN_UP_PER_PULL:
            return [row for row in rows if row["id"] not in found]


async def _exhausted_rests(tx: Transaction, task_ids: set[int]) -> list[RestedTask]:
    """Lock the schedules of tasks that lapsed too often, and return the tasks with their rests."""
    held = (await holdings(tx, task_ids)).values()
    schedules = sorted({h.schedule_id for h in held if h.schedule_id is not None})
    await tx.batch("lock_bot_schedules", [(i,) for i in schedules])
    return [RestedTask(h, after_lapse(h, retry=False), LAPSED, h.retries, LAPSED_ERROR) for h in held]


def _task(row: Row, lease_ms: int | None, now: int) -> PulledTask:
    held_ms = lease_ms or row["lease_ms"]
    shown = {name: row[name] for name in ("id", "created_at", "url", "priority", "max_retries", "retries")}
    return PulledTask(**shown, held_ms=held_ms, until=now + held_ms)


def _lapsed(row: Row) -> int:
    return int(row["lapsed"] or row["state"] == TaskState.EXPIRED)


async def _scope(tx: Transaction, pull: Pull) -> str | None:
    """Return the hosts that a pull may get tasks of, as a JSON list of ids; None for all."""
    if pull.needle is None and pull.domains == "[]" and pull.names == "[]":
        return None
    scope = {"needle": pull.needle, "domains": pull.domains, "names": pull.names}
    rows = await tx.all("hosts_in_scope", **scope, edge=HOST_END)
    return orjson.dumps([row["host_id"] for row in rows]).decode()
