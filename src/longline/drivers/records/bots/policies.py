"""Schedules for bots on either engine."""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from longline.drivers.records.callers.audit import audited, audited_many
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.schedules.schedules import insert
from longline.model.bots.bot_policy import BotPolicyRow, NewBotPolicy, PolicyFilter, PolicyStats
from longline.model.callers.audit import State
from longline.model.schedules.schedule import NewSchedule, ScheduleKind, ScheduleSpec
from longline.model.states import Actor


class BotPolicyRecords(Table):
    """Schedules for bots, and the URLs that a domain's schedule is spread over."""

    async def add(self, schedule: NewBotPolicy, actor: Actor = "person") -> BotPolicyRow | None:
        async def work(tx: Transaction) -> BotPolicyRow | None:
            facts = msgspec.structs.asdict(schedule)
            if await tx.all("rival_bot_schedules", schedule_id=0, **_names(facts)):
                return None
            url = schedule.url or ""
            row = await insert(
                tx,
                NewSchedule(
                    schedule.uid,
                    url,
                    interval_ms=schedule.interval_ms,
                    terms=ScheduleSpec(url=url, kind=ScheduleKind.BOT),
                ),
                schedule.steps,
                actor,
            )
            rest = {k: v for k, v in facts.items() if k not in ("uid", "interval_ms", "enabled")}
            await tx.one("add_bot_schedule", schedule_id=row.id, **rest)
            return await schedule_of(tx, schedule.uid)

        return await audited(self._database, "schedule", lambda row: row.schedule_id if row else None, work)

    async def get(self, uid: str) -> BotPolicyRow | None:
        return await self._database.read(lambda tx: schedule_of(tx, uid))

    async def find(self, wanted: PolicyFilter, *, limit: int = 50, offset: int = 0) -> list[BotPolicyRow]:
        facts = msgspec.structs.asdict(wanted)
        return await self._all("find_bot_schedules", BotPolicyRow, uid=None, **facts, limit=limit, offset=offset)

    async def change(self, schedule: BotPolicyRow) -> bool:
        async def work(tx: Transaction) -> bool:
            facts = msgspec.structs.asdict(schedule)
            await tx.batch("lock_bot_schedules", [(schedule.schedule_id,)])
            if await tx.all("rival_bot_schedules", schedule_id=schedule.schedule_id, **_names(facts)):
                return False
            await tx.one("change_bot_schedule", **facts)
            await tx.one("change_schedule", **{**facts, "url": schedule.url or ""})
            return True

        return await audited(self._database, "schedule", schedule.schedule_id, work)

    async def figures(self) -> PolicyStats:
        figures = await self._one("bot_schedule_figures", PolicyStats)
        assert figures is not None
        return figures

    async def add_urls(self, urls: Sequence[tuple[str, str]]) -> int:
        async def work(tx: Transaction) -> int:
            rows = sorted({(sha256(url.encode()).hexdigest(), host, url) for host, url in urls})
            return len(await tx.batch("know_urls", rows))

        def audited_state(new: int) -> State | None:
            return {"new": new, "urls": [url for _, url in urls]} if new else None

        return await audited_many(self._database, "url", audited_state, work)


def _names(facts: dict[str, object]) -> dict[str, object]:
    return {name: facts[name] for name in ("url", "domain", "name")}


async def schedule_of(tx: Transaction, uid: str) -> BotPolicyRow | None:
    """Return the schedule with this id."""
    facts = msgspec.structs.asdict(PolicyFilter())
    row = await tx.one("find_bot_schedules", uid=uid, **facts, limit=1, offset=0)
    return struct(row, BotPolicyRow) if row else None
