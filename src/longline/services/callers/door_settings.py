"""Settings of one API that its admins keep."""

from longline.model.callers.door_setting import KEY_TEXT, MAINTENANCE_KEY, DoorSettingRow, is_setting_key
from longline.model.errors import BadInput, LonglineError, NotFound
from longline.ports.records.callers import DoorSettingStore


class UnderMaintenance(LonglineError):
    """A request that is not served while an API is under maintenance."""


class DoorSettings:
    """The settings of one API."""

    def __init__(self, store: DoorSettingStore, door: str) -> None:
        self._store, self._door = store, door

    async def get(self, key: str) -> DoorSettingRow:
        """Return a setting; raise `NotFound` for one that is not set."""
        row = await self._store.get(self._door, key)
        if row is None:
            raise NotFound("door setting", key)
        return row

    async def find(self, prefix: str, limit: int, offset: int) -> tuple[list[DoorSettingRow], int]:
        """Return settings whose keys begin with a prefix, by key, and the number of all of them."""
        rows = await self._store.find(self._door, prefix, limit=limit, offset=offset)
        return rows, await self._store.count(self._door, prefix)

    async def put(self, key: str, value: str | None, description: str | None) -> DoorSettingRow:
        """Set a value; raise `BadInput` for a key without a dot between words."""
        if not is_setting_key(key):
            raise BadInput(KEY_TEXT)
        return await self._store.put(self._door, key, value, description)

    async def remove(self, key: str) -> None:
        """Remove a setting; raise `NotFound` for one that is not set."""
        if not await self._store.remove(self._door, key):
            raise NotFound("door setting", key)

    async def is_under_maintenance(self) -> bool:
        """Return whether only admins are served at present."""
        row = await self._store.get(self._door, MAINTENANCE_KEY)
        return row is not None and (row.value or "").strip().lower() == "true"
