"""The waker: makes URLs of the standing frontier due that were admitted while fetching them was off."""

import logging

from longline.ports.records.frontier.standing_frontier import StandingFrontierStore

log = logging.getLogger(__name__)

BATCH_SIZE = 500


class StandingWaker:
    """The waker of sleeping URLs."""

    def __init__(self, standing: StandingFrontierStore) -> None:
        self._standing = standing

    async def once(self) -> int:
        """Wake all sleeping URLs; return how many."""
        woken = 0
        while asleep := await self._standing.asleep(BATCH_SIZE):
            for task_id, priority in asleep:
                woken += await self._standing.advance(task_id, priority)
        if woken:
            log.info("frontier URLs woken", extra={"urls": woken})
        return woken
