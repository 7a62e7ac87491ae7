"""Settings of one API that its admins keep, on either engine."""

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.like_patterns import literal
from longline.drivers.records.row_structs import Table, struct
from longline.model.callers.door_setting import DoorSettingRow

NOUN = "door setting"


class DoorSettingRecords(Table):
    """Settings of APIs."""

    async def get(self, door: str, key: str) -> DoorSettingRow | None:
        return await self._one("door_setting", DoorSettingRow, door=door, key=key)

    async def find(self, door: str, prefix: str, *, limit: int, offset: int) -> list[DoorSettingRow]:
        pattern = f"{literal(prefix)}%"
        return await self._all(
            "find_door_settings", DoorSettingRow, door=door, pattern=pattern, limit=limit, offset=offset
        )

    async def count(self, door: str, prefix: str) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_door_settings", door=door, pattern=f"{literal(prefix)}%")
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def put(self, door: str, key: str, value: str | None, description: str | None) -> DoorSettingRow:
        async def work(tx: Transaction) -> DoorSettingRow:
            [row] = await tx.all("put_door_setting", door=door, key=key, value=value, description=description)
            return struct(row, DoorSettingRow)

        return await audited(self._database, NOUN, f"{door}/{key}", work)

    async def remove(self, door: str, key: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("remove_door_setting", door=door, key=key) is not None

        return await audited(self._database, NOUN, f"{door}/{key}", work)
