"""The standing frontier, on either engine."""

from collections import Counter
from typing import Any

import msgspec

from longline.drivers.records.counted import counted
from longline.drivers.records.database import Database, Tx, struct
from longline.drivers.records.text import contains, literal
from longline.model.frontier import ASLEEP, RESTS, SCOPE, StandingUrl, UrlQuery, rest_of
from longline.model.states import TaskState
from longline.model.task import FETCH


class StandingRecords:
    """The standing frontier."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, query: UrlQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[StandingUrl], int]:
        async def work(tx: Tx) -> tuple[list[StandingUrl], int]:
            rows, total = await counted(tx, "find_standing", _asked(query), limit, offset)
            return [struct(row, StandingUrl) for row in rows], total

        return await self._database.read(work)

    async def get(self, task_id: int) -> StandingUrl | None:
        async def work(tx: Tx) -> StandingUrl | None:
            row = await tx.one("standing_url", id=task_id)
            return struct(row, StandingUrl) if row else None

        return await self._database.read(work)

    async def known(self, host: str, key: bytes) -> tuple[int, bool] | None:
        async def work(tx: Tx) -> tuple[int, bool] | None:
            row = await tx.one("known_url", scope=SCOPE, host=host, key=key)
            return (int(row["id"]), bool(row["removed"])) if row else None

        return await self._database.read(work)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Tx) -> dict[str, int]:
            found: Counter[str] = Counter()
            for row in await tx.all("standing_counts"):
                found[rest_of(row["state"])] += row["count"]
            return dict(found)

        return await self._database.read(work)

    async def asleep(self, limit: int) -> list[tuple[int, int]]:
        async def work(tx: Tx) -> list[tuple[int, int]]:
            rows = await tx.all("sleeping_urls", scope=SCOPE, due=ASLEEP, limit=limit)
            return [(row["id"], row["priority"]) for row in rows]

        return await self._database.read(work)

    async def hasten(self, task_id: int, priority: int) -> bool:
        return await self._database.transact(lambda tx: _hasten(tx, task_id, priority))


def _asked(query: UrlQuery) -> dict[str, Any]:
    asked = msgspec.structs.asdict(query)
    rest = asked.pop("rest")
    # A word that is none fits nothing.
    states = f",{','.join(sorted(RESTS.get(rest, ())))}," if rest is not None else None
    # A host is asked for by its name, whatever its port.
    ported = f"{literal(query.host)}:%" if query.host else None
    return asked | {"states": states, "search": contains(query.search), "ported": ported}


async def _hasten(tx: Tx, task_id: int, priority: int) -> bool:
    """Its place in the queue changes, under the lock of its host, as with every change of place."""
    place = await tx.one("task_place", id=task_id)
    if place is None:
        return False
    await tx.batch("lock_lines", [(place["host_id"],)])
    place, task = await tx.one("task_place", id=task_id), await tx.one("task", id=task_id)
    if place is None or task is None or task["state"] != TaskState.PENDING or place["executor"] != FETCH:
        return False
    host_id, best = place["host_id"], min(priority, place["priority"])
    if (place["due"], place["priority"]) != (0, best):
        was = {name: place[name] for name in ("host_id", "due", "priority", "run_id")}
        await tx.one("pull_from_queue", **was, id=task_id)
        await tx.one("hasten_task", id=task_id, priority=best)
        await tx.batch("queue_tasks", [(host_id, 0, best, place["run_id"], task_id, task["attempt"])])
        await tx.batch("wake_lines", [(host_id, tx.now)])
    return True
