"""A regular log line with the numbers of URLs of the standing frontier: waiting, held, done, and given up."""

import logging

from longline.model.frontier.standing_frontier import STATES_BY_LIST
from longline.ports.records.frontier.standing_frontier import StandingFrontierStore

log = logging.getLogger(__name__)


class StandingCountLog:
    """The log of the standing frontier's counts."""

    def __init__(self, standing: StandingFrontierStore) -> None:
        self._standing = standing

    async def once(self) -> None:
        """Log the number of URLs in each group; a frontier without any URL is not worth a line a minute."""
        counts = await self._standing.counts()
        if any(counts.values()):
            log.info("frontier counts", extra={rest: counts.get(rest, 0) for rest in STATES_BY_LIST})
