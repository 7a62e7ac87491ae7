"""How often pages change, by URL."""

import msgspec

from longline.drivers.records.database import Tx, struct
from longline.drivers.records.table import Noun
from longline.ports.records.schedules import Rhythm


class RhythmRecords(Noun):
    """How sources change."""

    async def get(self, source_ref: str) -> Rhythm | None:
        async def work(tx: Tx) -> Rhythm | None:
            row = await tx.one("rhythm", source_ref=source_ref)
            return struct(row, Rhythm) if row else None

        return await self._database.read(work)

    async def keep(self, source_ref: str, rhythm: Rhythm) -> None:
        await self._write("keep_rhythm", source_ref=source_ref, **msgspec.structs.asdict(rhythm))

    async def forget(self, source_ref: str) -> None:
        await self._write("forget_rhythm", source_ref=source_ref)
