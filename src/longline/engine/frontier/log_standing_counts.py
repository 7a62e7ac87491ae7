"""The census: says in the log how many URLs of the standing frontier wait, are held, are done and were given up."""

import logging

from longline.model.frontier.standing_frontier import RESTS
from longline.ports.records.standing_frontier import StandingFrontierStore

log = logging.getLogger(__name__)


class StandingCountLog:
    """Counts the standing frontier."""

    def __init__(self, standing: StandingFrontierStore) -> None:
        self._standing = standing

    async def once(self) -> None:
        """Say how many there are."""
        counts = await self._standing.counts()
        log.info("the frontier", extra={rest: counts.get(rest, 0) for rest in RESTS})
