"""The due times of all schedules and the slots that they are in, on either engine."""

from collections.abc import Sequence

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.drivers.records.schedules.schedules import lock_slots
from longline.model.callers.audit import State
from longline.model.schedules.slots import SLOT_MS, Shift, Waiting


class SlotRecords(Table):
    """Due times and slots."""

    async def loads(self, until: int) -> dict[int, int]:
        async def work(tx: Transaction) -> dict[int, int]:
            rows = await tx.all("loads_of_slots", slot=SLOT_MS, until=until)
            return {row["slot"]: row["count"] for row in rows}

        return await self._database.read(work)

    async def waiting(self) -> list[Waiting]:
        async def work(tx: Transaction) -> list[Waiting]:
            return [Waiting(**row) for row in await tx.all("waiting_schedules")]

        return await self._database.read(work)

    async def shift(self, shifts: Sequence[Shift]) -> set[int]:
        async def work(tx: Transaction) -> set[int]:
            await lock_slots(tx)
            rows = sorted((s.id, s.old, s.new) for s in shifts)
            return {row["id"] for row in await tx.batch("shift_schedules", rows)}

        def audited_state(moved: set[int]) -> State | None:
            return {"moved": [one.uid for one in shifts if one.id in moved]} if moved else None

        return await audited_many(self._database, "schedule", audited_state, work)
