"""Upkeep for bots: tasks for schedules that are due, and leases that bots let lapse."""

import logging

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.duration import DAY_MS
from longline.ports.clock import Clock
from longline.ports.records.bots import BotStore

BATCH_SIZE = 1000

log = logging.getLogger(__name__)


class BotTaskUpkeep:
    """Upkeep of the tasks of bots, in batches: due schedules get tasks, and lapsed leases are taken back."""

    def __init__(self, lifecycle: BotLifecycle, bots: BotStore, clock: Clock, delay_ms: int) -> None:
        self._lifecycle, self._bots, self._clock, self._delay_ms = lifecycle, bots, clock, delay_ms

    async def plan(self) -> int:
        """Make tasks for every schedule that is due; return how many."""
        made = 0
        while created := (await self._lifecycle.plan(BATCH_SIZE, self._delay_ms)).created:
            made += created
        if made:
            log.info("created bot tasks", extra={"tasks": made})
        return made

    async def sweep(self) -> int:
        """Take back lapsed leases, and delete answers that were kept for repeats for a day; return how many leases."""
        taken = 0
        while True:
            swept = await self._lifecycle.sweep(BATCH_SIZE)
            batch = swept.expired + swept.requeued + swept.failed
            taken += batch
            if batch < BATCH_SIZE:
                break
        if taken:
            log.info("reclaimed expired bot leases", extra={"leases": taken})
        await self._bots.forget_answers(self._clock.now() - DAY_MS)
        return taken
