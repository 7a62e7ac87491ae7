"""Pulls of bots: tasks into their hands, for all that came together in one transaction."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

import orjson

from longline.drivers.records.bot_outcomes import count_hours
from longline.drivers.records.bot_plans import EDGE
from longline.drivers.records.database import Row, Tx
from longline.drivers.records.hands import TOKEN_BITS
from longline.model.bot import Pull, Pulled, PulledTask
from longline.model.states import TaskState


async def pull(pulls: Sequence[Pull], tx: Tx) -> list[Pulled]:
    """Hand tasks out, each to one; among those who look in the same place, who came first gets the best."""
    ids = await _bot_ids(tx, pulls)
    alike: defaultdict[tuple[str | None, str, bool], list[int]] = defaultdict(list)
    for n, one in enumerate(pulls):
        alike[one.needle, one.domains, one.reclaim].append(n)
    got: dict[int, Pulled] = {}
    for _, places in sorted(alike.items(), key=lambda group: group[1]):
        got |= await _hand_out(tx, {n: pulls[n] for n in places}, ids)
    counts: defaultdict[int, list[int]] = defaultdict(list)
    for n, one in enumerate(pulls):
        counts[ids[one.bot]].append(len(got[n].tasks))
    await tx.batch("lock_bots", [(i,) for i in sorted(counts)])
    await tx.batch("count_pulls", [(i, sum(each)) for i, each in counts.items()])
    await count_hours(tx, [(i, len(each), sum(each), 0, 0, 0) for i, each in sorted(counts.items())])
    return [got[n] for n in range(len(pulls))]


async def _bot_ids(tx: Tx, pulls: Sequence[Pull]) -> dict[str, int]:
    """Who asks, by name; those whom nobody knew are known from now on."""
    ids = {one.bot: one.bot_id for one in pulls if one.bot_id is not None}
    strangers = [(name,) for name in sorted({one.bot for one in pulls} - ids.keys())]
    await tx.batch("meet_bots", strangers)
    return ids | {row["name"]: row["id"] for row in await tx.batch("bots_by_name", strangers)}


async def _hand_out(tx: Tx, pulls: dict[int, Pull], ids: dict[str, int]) -> dict[int, Pulled]:
    """Tasks for those who look in the same place, by their numbers."""
    first = next(iter(pulls.values()))
    hosts = await _scope(tx, first)
    most = sum(one.limit for one in pulls.values())
    rows = iter(await tx.all("pick_offers", reclaim=first.reclaim, hosts=hosts, limit=most))
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


def _task(row: Row, lease_ms: int | None, now: int) -> PulledTask:
    held_ms = lease_ms or row["lease_ms"]
    shown = {name: row[name] for name in ("id", "created_at", "url", "priority", "max_retries", "retries")}
    return PulledTask(**shown, held_ms=held_ms, until=now + held_ms)


def _lapsed(row: Row) -> int:
    return int(row["lapsed"] or row["state"] == TaskState.EXPIRED)


async def _scope(tx: Tx, pull: Pull) -> str | None:
    """The hosts a bot may get tasks of, as a JSON list of ids; None for all."""
    if pull.needle is None and pull.domains == "[]":
        return None
    rows = await tx.all("hosts_in_scope", needle=pull.needle, domains=pull.domains, edge=EDGE)
    return orjson.dumps([row["host_id"] for row in rows]).decode()
