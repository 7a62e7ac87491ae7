"""Copies of run logs in Redis streams, each entry once and in order.

The last entry of the copy marks its end, so a failed copy loses nothing: the next one begins there.
"""

import logging
from collections.abc import Iterable

from longline.model.errors import Unavailable
from longline.model.logs.run_log import LogMark, log_line
from longline.ports.logs import LogCopies
from longline.ports.records.logs import LogStore

log = logging.getLogger(__name__)

BATCH_SIZE = 500


class RedisLogCopy:
    """A copier of logs; an unavailable store is only logged."""

    def __init__(self, logs: LogStore, copies: LogCopies) -> None:
        self._logs, self._copies = logs, copies
        self._in_vain = False

    async def copy(self, runs: Iterable[int]) -> None:
        """Copy the new entries of these runs."""
        try:
            for run_id in sorted(runs):
                await self._copy(run_id)
                self._in_vain = False
        except Unavailable as error:
            if not self._in_vain:
                log.warning("run log entries not copied to Redis", extra={"error": str(error)})
            self._in_vain = True

    async def _copy(self, run_id: int) -> None:
        name = (await self._logs.read(run_id, 0, 0)).name
        last = await self._copies.last(name)
        if last is not None and last.run_id > run_id:
            return  # a later run has begun, and an append-only stream takes no earlier entries
        after = last.number if last is not None and last.run_id == run_id else 0
        while (part := await self._logs.read(run_id, after, BATCH_SIZE)).entries:
            lines = [(LogMark(run_id, entry.number), log_line(entry, part.name, part.uid)) for entry in part.entries]
            await self._copies.add(name, lines)
            after = part.entries[-1].number
