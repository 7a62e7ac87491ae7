"""The audit trail: changes that callers ordered, for reading."""

from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.errors import NotFound
from longline.ports.records.callers import AuditStore


class AuditTrail:
    """The audit rows; stores write each of them in the transaction of its change."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store

    async def find(self, wanted: AuditFilter, limit: int, before_id: int | None = None) -> list[AuditRow]:
        """Return audit rows, newest first; `before_id` continues a list."""
        return await self._store.find(wanted, limit=limit, before_id=before_id)

    async def page(self, wanted: AuditFilter, limit: int, offset: int) -> list[AuditRow]:
        """Return a page of audit rows, newest first."""
        return await self._store.find(wanted, limit=limit, offset=offset)

    async def count(self, wanted: AuditFilter) -> int:
        """Return the number of chosen audit rows."""
        return await self._store.count(wanted)

    async def get(self, uid: str) -> AuditRow:
        """Return one audit row; raise `NotFound` for an unknown id."""
        row = await self._store.get(uid)
        if row is None:
            raise NotFound("audit row", uid)
        return row
