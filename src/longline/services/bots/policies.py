"""Schedules of tasks for bots, and two chores: planning due tasks and sweeping lapsed leases."""

from collections.abc import Iterable
from typing import Any

import msgspec

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.engine.lifecycle.creation import create_policy
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.bots.bot_policy import BotPolicyRow, NewBotPolicy, Planned, PolicyFilter
from longline.model.bots.bot_task import Swept
from longline.model.errors import NotFound
from longline.model.states import ScheduleState
from longline.model.urls.url import parse
from longline.ports.blobs import Blobs
from longline.ports.records import Records

BATCH_SIZE = 1000
"""Largest number of schedules, or of lapsed leases, in one transaction."""


class BotPolicies:
    """The schedules of tasks for bots."""

    def __init__(self, records: Records, blobs: Blobs, delay_ms: int) -> None:
        self._schedules, self._blobs, self._delay_ms = records.bot_schedules, blobs, delay_ms
        self._lifecycle, self._bots = Lifecycle(records), BotLifecycle(records)

    async def add(self, policy: NewBotPolicy) -> BotPolicyRow | None:
        """Make a schedule; return None when its URL, or its name within the domain, is taken."""
        row = await create_policy(self._schedules, policy, "person")
        if row is not None and row.url is not None:
            await self.add_urls([row.url])
        return row

    async def get(self, uid: str) -> BotPolicyRow:
        """Return a schedule."""
        row = await self._schedules.get(uid)
        if row is None:
            raise NotFound("schedule", uid)
        return row

    async def find(self, wanted: PolicyFilter, *, limit: int, offset: int = 0) -> list[BotPolicyRow]:
        """Return schedules, newest first."""
        return await self._schedules.find(wanted, limit=limit, offset=offset)

    async def change(self, uid: str, enabled: bool | None = None, **changes: Any) -> BotPolicyRow | None:
        """Change a schedule, not its existing tasks; return None when its URL or name is taken."""
        row = await self.get(uid)
        if changes and not await self._schedules.change(msgspec.structs.replace(row, **changes)):
            return None
        if enabled is not None and enabled != (row.state == ScheduleState.SCHEDULED):
            name = "resume" if enabled else "pause"
            await self._lifecycle.move(MoveRequest("schedule", row.schedule_id, name, "person"))
        return await self.get(uid)

    async def remove(self, uid: str) -> None:
        """Delete a schedule, its tasks and their results."""
        pages = await self._bots.drop(uid)
        if pages is None:
            raise NotFound("schedule", uid)
        await self._blobs.delete(pages)

    async def add_urls(self, urls: Iterable[str]) -> int:
        """Store URLs over which a domain's schedule may be spread; return the number of new ones."""
        return await self._schedules.add_urls([(parse(url).host, url) for url in urls])

    async def plan(self, limit: int = BATCH_SIZE, *, dry: bool = False) -> Planned:
        """Make tasks for schedules that are due."""
        return await self._bots.plan(limit, self._delay_ms, dry=dry)

    async def sweep(self, limit: int = BATCH_SIZE, *, retry: bool = False, dry: bool = False) -> Swept:
        """Take tasks with lapsed leases from their bots."""
        return await self._bots.sweep(limit, retry=retry, dry=dry)
