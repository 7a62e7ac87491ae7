"""The standing frontier, on either engine."""

from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.frontier.standing_list import follow
from longline.drivers.records.frontier.task_moves import QUEUE_KEY
from longline.drivers.records.like_patterns import contains
from longline.drivers.records.named_queries import Engine
from longline.drivers.records.paging import counted
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.frontier.standing_frontier import NEVER_DUE_MS, SCOPE, STATES_BY_LIST, StandingUrl, UrlQuery
from longline.model.frontier.task import FETCH
from longline.model.states import TaskState
from longline.ports.records.frontier.standing_frontier import KnownUrl

MAX_SORTED_URLS = 20_000
"""Largest number of URLs of a host or a source to gather and sort; with more, the list is read in its own order."""

Found = tuple[Sequence[int], int]
"""Ids in order, and the total number."""


class StandingFrontierRecords:
    """The standing frontier."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, query: UrlQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[StandingUrl], int]:
        async def work(tx: Transaction) -> tuple[list[StandingUrl], int]:
            ids, total = await _chosen(tx, query, limit, offset)
            return await _shown(tx, ids), total

        return await self._database.read(work)

    async def get(self, url_id: int) -> StandingUrl | None:
        async def work(tx: Transaction) -> StandingUrl | None:
            return next(iter(await _shown(tx, [url_id])), None)

        return await self._database.read(work)

    async def known(self, host: str, key: bytes) -> KnownUrl | None:
        async def work(tx: Transaction) -> KnownUrl | None:
            row = await tx.one("known_url", scope=SCOPE, host=host, key=key)
            return KnownUrl(row["id"], row["task_id"], bool(row["removed"])) if row else None

        return await self._database.read(work)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            in_hand = await _in_hand(tx)
            return _moved(await _sums(tx, UrlQuery()), len(in_hand))

        return await self._database.read(work)

    async def asleep(self, limit: int) -> list[tuple[int, int]]:
        async def work(tx: Transaction) -> list[tuple[int, int]]:
            rows = await tx.all("sleeping_urls", scope=SCOPE, due=NEVER_DUE_MS, limit=limit)
            return [(row["id"], row["priority"]) for row in rows]

        return await self._database.read(work)

    async def advance(self, task_id: int, priority: int, due: int = 0) -> bool:
        return await audited(self._database, "task", task_id, lambda tx: _move_forward(tx, task_id, priority, due))


def _asked(query: UrlQuery, in_hand: Sequence[int], engine: Engine) -> dict[str, Any]:
    asked = msgspec.structs.asdict(query)
    asked.pop("sort")
    ids = list(in_hand) if engine == "pg" else orjson.dumps(in_hand).decode()
    return asked | {"search": contains(query.search), "in_hand": ids}


async def _in_hand(tx: Transaction) -> list[int]:
    """Return the URLs that wait by their rows, but are leased by their marks."""
    lines = await tx.all("lines_in_hand")
    return [row["id"] for row in await tx.batch("urls_of_lines", [(one["host_id"], one["token"]) for one in lines])]


async def _chosen(tx: Transaction, query: UrlQuery, limit: int, offset: int) -> Found:
    """Return the ids of a page of the list, by the query that reads least."""
    # Only these two rests depend on the leased URLs.
    asked = _asked(query, await _in_hand(tx) if query.rest in ("waiting", "held") else [], tx.engine)
    page = {"limit": limit, "offset": offset}
    if query.rest == "held":
        rows, total = await counted(tx, "held_urls", asked | {"rest": None, "sort": query.sort}, limit, offset)
        return [row["id"] for row in rows], total
    total = await _total(tx, query, asked)
    if not total:
        return [], 0
    gathered = "urls_of_host" if query.host else "urls_of_runs" if query.source or query.kind else None
    if gathered and total <= MAX_SORTED_URLS:
        rows = await tx.all(gathered, **asked, **page, sort=query.sort)
    else:
        rows = await tx.all(f"urls_{'at_rest_' if query.rest else ''}by_{query.sort}", **asked, **page)
    return [row["id"] for row in rows], total


async def _total(tx: Transaction, query: UrlQuery, asked: dict[str, Any]) -> int:
    """Return the number of matching URLs: from running sums, or by reading rows for a host or a search."""
    if query.rest is not None and query.rest not in STATES_BY_LIST:
        return 0  # an unknown rest matches nothing
    if query.host or query.search:
        row = await tx.one("count_urls_of_host" if query.host else "count_urls", **asked)
        return int(row["total"]) if row else 0
    sums = await _sums(tx, query)
    if query.rest == "waiting":
        row = await tx.one("urls_in_hand", **asked | {"rest": None})
        sums = _moved(sums, int(row["count"]) if row else 0)
    return sums.get(query.rest, 0) if query.rest else sum(sums.values())


async def _sums(tx: Transaction, query: UrlQuery) -> dict[str, int]:
    """Return the number of URLs at each rest by their rows, for the query's source and kind."""
    rows = await tx.all("standing_sums", source=query.source, kind=query.kind)
    return {row["rest"]: row["count"] for row in rows if row["rest"] in STATES_BY_LIST and row["count"]}


def _moved(sums: dict[str, int], in_hand: int) -> dict[str, int]:
    """Return the sums with leased URLs counted as held and not as waiting."""
    found = sums | {"waiting": sums.get("waiting", 0) - in_hand, "held": sums.get("held", 0) + in_hand}
    return {rest: count for rest, count in found.items() if count}


async def _shown(tx: Transaction, ids: Sequence[int]) -> list[StandingUrl]:
    rows = await tx.batch("listed_urls", [(url_id,) for url_id in ids])
    found = {row["id"]: struct(row, StandingUrl) for row in rows}
    return [found[url_id] for url_id in ids if url_id in found]


async def _move_forward(tx: Transaction, task_id: int, priority: int, due: int) -> bool:
    """Move a task forward in the queue, under the lock of its host, as with every change of place."""
    place = await tx.one("task_place", id=task_id)
    if place is None:
        return False
    await tx.batch("lock_lines", [(place["host_id"],)])
    place, task = await tx.one("task_place", id=task_id), await tx.one("task", id=task_id)
    if place is None or task is None or task["state"] != TaskState.PENDING or place["executor"] != FETCH:
        return False
    host_id, best, soonest = place["host_id"], min(priority, place["priority"]), min(due, place["due"])
    if (place["due"], place["priority"]) != (soonest, best):
        await tx.batch("empty_queue_of_tasks", [tuple(place[name] for name in QUEUE_KEY)])
        await tx.one("hasten_task", id=task_id, priority=best, due=soonest)
        await tx.batch("queue_tasks", [(host_id, soonest, best, place["run_id"], task_id, task["attempt"])])
        await tx.batch("wake_lines", [(host_id, max(tx.now, soonest))])
        await follow(tx, RunCounters(), [task_id])  # the URL waits as before: no count changes
    return True
