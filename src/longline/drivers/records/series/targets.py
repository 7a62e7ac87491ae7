"""Targets of series on sources, on either engine."""

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.errors import NotFound
from longline.model.series.series import NewTarget, TargetRow
from longline.model.sources.source import Taken


class TargetRecords(Table):
    """Targets."""

    async def add(self, target: NewTarget) -> TargetRow:
        async def work(tx: Transaction) -> TargetRow:
            row = await tx.one(
                "add_target",
                series_id=target.series_id,
                source_id=target.source_id,
                external_id=target.external_id,
                url=target.url,
                active=target.active,
            )
            if row is not None:
                return struct(row, TargetRow)
            if await tx.one("source", id=target.source_id) is None:
                raise NotFound("source", target.source_id)
            raise _taken(target.external_id)

        return await audited(self._database, "target", lambda made: made.id, work)

    async def get(self, target_id: int) -> TargetRow | None:
        return await self._one("target", TargetRow, id=target_id)

    async def of_series(self, series_id: str) -> list[TargetRow]:
        return await self._all("targets_of_series", TargetRow, series_id=series_id)

    async def change(self, target: TargetRow, was: TargetRow) -> TargetRow | None:
        async def work(tx: Transaction) -> TargetRow | None:
            present = await tx.one("lock_target", id=target.id)
            if present is None or struct(present, TargetRow).updated_at != was.updated_at:
                return None
            other = await tx.one("target_by_external_id", source_id=target.source_id, external_id=target.external_id)
            if other is not None and other["id"] != target.id:
                raise _taken(target.external_id)
            row = await tx.one(
                "change_target",
                id=target.id,
                external_id=target.external_id,
                url=target.url,
                active=target.active,
            )
            return struct(row, TargetRow) if row else None

        return await audited(self._database, "target", target.id, work)

    async def remove(self, target_id: int, series_id: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("remove_target", id=target_id, series_id=series_id) is not None

        return await audited(self._database, "target", target_id, work)


def _taken(external_id: str) -> Taken:
    return Taken("external_id", f"the source has a target with the id {external_id}")
