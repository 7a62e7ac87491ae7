"""Bots, their activity and their results, on either engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.bots.bot import BotActivity, BotRow, BotTotals, NewBot
from longline.model.bots.bot_task import BotTaskRow, ResultFilter, ResultRow, TaskFilter
from longline.model.duration import HOUR_MS
from longline.model.states import IN_HAND
from longline.model.token_bucket import TokenBucket, spend


class BotRecords(Table):
    """The registry of bots."""

    async def register(self, bot: NewBot) -> BotRow | None:
        return await self._written("register_bot", bot.name, **msgspec.structs.asdict(bot))

    async def get(self, names: Sequence[str]) -> dict[str, BotRow]:
        async def work(tx: Transaction) -> dict[str, BotRow]:
            rows = await tx.batch("bots_by_name", [(name,) for name in names])
            return {row["name"]: struct(row, BotRow) for row in rows}

        return await self._database.read(work)

    async def find(self, *, registered: bool = True, limit: int = 50, offset: int = 0, after: str = "") -> list[BotRow]:
        return await self._all("find_bots", BotRow, registered=registered, limit=limit, offset=offset, after=after)

    async def change(self, bot: NewBot) -> BotRow | None:
        return await self._written("change_bot", bot.name, **msgspec.structs.asdict(bot))

    async def reset(self, name: str) -> BotRow | None:
        return await self._written("reset_bot", name, name=name)

    async def activity(self, since: int, limit: int = 200) -> list[BotActivity]:
        return await self._all("bot_activity", BotActivity, hour=since // HOUR_MS, limit=limit)

    async def totals(self, since: int) -> BotTotals:
        totals = await self._one("bot_totals", BotTotals, hour=since // HOUR_MS)
        assert totals is not None
        return totals

    async def forget_answers(self, before: int) -> None:
        await self._write("forget_answers", since=before)

    async def spend(self, times: Mapping[int, int]) -> dict[int, TokenBucket]:
        async def work(tx: Transaction) -> dict[int, TokenBucket]:
            rows = await tx.batch("lock_paces", [(i,) for i in sorted(times)])
            spent = {
                row["id"]: spend(row["spare"], tx.now - row["spare_at"], row["per_minute"], times[row["id"]])
                for row in rows
            }
            await tx.batch("spend_paces", [(i, one.left) for i, one in spent.items() if one.granted])
            return spent

        return await self._database.transact(work)

    async def _written(self, query: str, key: str, /, **params: Any) -> BotRow | None:
        async def work(tx: Transaction) -> Row | None:
            return await tx.one(query, **params)

        row = await audited(self._database, "bot", key, work)
        return struct(row, BotRow) if row else None


class BotOverviewRecords(Table):
    """Read access to bots' tasks and results."""

    async def tasks(self, wanted: TaskFilter, *, limit: int = 50, offset: int = 0) -> list[BotTaskRow]:
        return await self._all("find_bot_tasks", BotTaskRow, **_task_filter(wanted), limit=limit, offset=offset)

    async def task(self, task_id: int) -> BotTaskRow | None:
        wanted = _task_filter(TaskFilter(), task_id)
        return await self._one("find_bot_tasks", BotTaskRow, **wanted, limit=1, offset=0)

    async def results(self, wanted: ResultFilter, *, limit: int = 50, offset: int = 0) -> list[ResultRow]:
        facts = msgspec.structs.asdict(wanted)
        return await self._all("find_results", ResultRow, uid=None, task_id=None, **facts, limit=limit, offset=offset)

    async def newest_results(self, *, before: str | None = None, limit: int = 50) -> list[ResultRow]:
        return await self._all("newest_results", ResultRow, before=before, limit=limit)

    async def result(self, *, uid: str | None = None, task_id: int | None = None) -> ResultRow | None:
        facts = msgspec.structs.asdict(ResultFilter())
        return await self._one("find_results", ResultRow, uid=uid, task_id=task_id, **facts, limit=1, offset=0)

    async def states(self) -> dict[str, int]:
        return await self._counted("count_bot_tasks", "state")

    async def retries(self) -> dict[int, int]:
        return await self._counted("count_retries", "retries")

    async def _counted(self, query: str, by: str) -> dict[Any, int]:
        async def work(tx: Transaction) -> dict[Any, int]:
            return {row[by]: row["count"] for row in await tx.all(query)}

        return await self._database.read(work)


def _task_filter(wanted: TaskFilter, task_id: int | None = None) -> dict[str, Any]:
    facts = msgspec.structs.asdict(wanted)
    return {"id": task_id, **_standing(facts.pop("state")), **facts}


def _standing(state: str | None) -> dict[str, Any]:
    """Return the filter for a state: a leased task has a mark on its offer, any other state is the row's rest."""
    if state is None:
        return {"held": None, "rest": None}
    return {"held": True, "rest": None} if state in IN_HAND else {"held": False, "rest": state}
