"""Upkeep of log months: months are made ahead, and those that are too old are archived as objects, then deleted.

An archive has one JSON line for each entry, in pieces. The same entries give the same bytes, so a crash in between
repeats them. A month is deleted only after its entries were counted against the archived lines.
"""

import asyncio
import gzip
import logging

import msgspec

from longline.model.logs.log_months import KEPT_MONTHS, LogMonth, MonthLine, following_month, month_name, month_of
from longline.model.object_keys import log_month_key
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.logs import LogMonthStore

log = logging.getLogger(__name__)

BATCH_SIZE = 5000
"""Entries that are read at once, and lines of one piece of an archive."""


class LogMonthKeeper:
    """The keeper of months of logs."""

    def __init__(self, months: LogMonthStore, blobs: Blobs, clock: Clock, kept: int = KEPT_MONTHS) -> None:
        self._months, self._blobs, self._clock, self._kept = months, blobs, clock, kept

    async def once(self) -> None:
        """Make the months that are needed soon, and archive and delete the old ones."""
        await self.make_ahead()
        await self.archive_old()

    async def make_ahead(self) -> list[str]:
        """Make the present month, the next one and those of stray entries; return the names of the new ones."""
        present = month_of(1000 * self._clock.now())
        wanted = {present, following_month(present), *await self._months.unmade()}
        made = [month_name(month) for month in sorted(wanted) if await self._months.make(month)]
        if made:
            log.info("log months made", extra={"months": made})
        return made

    async def archive_old(self) -> list[LogMonth]:
        """Archive and delete the months that ended more than six months ago; return those that are gone."""
        present = month_of(1000 * self._clock.now())
        found = await self._months.find()
        old = [each for each in found if following_month(each.month, self._kept) < present]
        return [gone for each in old if (gone := await self._retire(each)) is not None]

    async def _retire(self, month: LogMonth) -> LogMonth | None:
        if month.archived_at is None:
            lines, objects = await self._archive(month.month)
            if not await self._months.archived(month.month, lines, objects):
                log.warning("log month changed while it was archived", extra={"month": month_name(month.month)})
                return None
            month = msgspec.structs.replace(month, lines=lines, objects=objects)
        if not await self._months.drop(month.month):
            return None
        log.info("log month archived and deleted", extra={"month": month_name(month.month)})
        return month

    async def _archive(self, month: int) -> tuple[int, int]:
        """Write the entries of a month to objects; return the numbers of lines and objects."""
        lines, objects, after = 0, 0, (0, 0)
        while rows := await self._months.lines(month, after, BATCH_SIZE):
            objects += 1
            data = await asyncio.to_thread(encode_lines, rows)
            await self._blobs.put(log_month_key(month, objects), data, {"Content-Type": "application/gzip"})
            lines, after = lines + len(rows), (rows[-1].run_id, rows[-1].number)
        return lines, objects


def encode_lines(lines: list[MonthLine]) -> bytes:
    """Return one piece of an archive."""
    return gzip.compress(b"".join(msgspec.json.encode(line) + b"\n" for line in lines), mtime=0)


def decode_lines(data: bytes) -> list[MonthLine]:
    """Return the lines of one piece of an archive."""
    return [msgspec.json.decode(line, type=MonthLine) for line in gzip.decompress(data).splitlines()]
