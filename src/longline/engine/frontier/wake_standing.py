"""The waker: lets URLs of the standing frontier go that were given while nobody was to fetch them."""

import logging

from longline.ports.records.standing_frontier import StandingFrontierStore

log = logging.getLogger(__name__)

AT_ONCE = 500


class StandingWaker:
    """Wakes what sleeps."""

    def __init__(self, standing: StandingFrontierStore) -> None:
        self._standing = standing

    async def once(self) -> int:
        """Wake everything; how many that were."""
        woken = 0
        while asleep := await self._standing.asleep(AT_ONCE):
            for task_id, priority in asleep:
                woken += await self._standing.hasten(task_id, priority)
        if woken:
            log.info("the frontier goes on", extra={"urls": woken})
        return woken
