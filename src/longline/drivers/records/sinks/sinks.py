"""Sinks, their leases and their positions in runs, on either engine."""

import secrets

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.errors import StaleLease
from longline.model.sinks.sink import ABANDONED_MS, SinkAddress, SinkBacklog, SinkLease, SinkRow

_UID_BYTES = 6


class SinkRecords(Table):
    """Sinks and their positions."""

    async def register(self, address: SinkAddress) -> SinkRow:
        values = {"key": address.key, "uid": secrets.token_hex(_UID_BYTES), "label": address.label}
        scope = {"name": address.name, "every_run": not address.name, "abandoned": ABANDONED_MS}
        row = struct(await self._make("put_sink", **values, **scope), SinkRow)
        if not row.assigned:
            # In a transaction of its own: new items are assigned to the sink from its registration on.
            await self._database.transact(lambda tx: _assign_sink(tx, row.id))
        return row

    async def register_for(self, address: SinkAddress, run_id: int) -> SinkRow:
        async def work(tx: Transaction) -> SinkRow:
            values = {"key": address.key, "uid": secrets.token_hex(_UID_BYTES), "label": address.label}
            row = struct((await tx.all("put_crawl_sink", **values))[0], SinkRow)
            await tx.all("assign_crawl", id=row.id, run_id=run_id)
            return row

        return await self._database.transact(work)

    async def due(self, sink_id: int, owner: int) -> bool:
        return bool(await self._database.read(lambda tx: tx.one("sink_due", id=sink_id, owner=owner)))

    async def claim(self, sink_id: int, owner: int, lease_ms: int) -> SinkLease | None:
        async def work(tx: Transaction) -> SinkLease | None:
            row = await tx.one("claim_sink", id=sink_id, owner=owner, lease=lease_ms)
            return struct(row, SinkLease) if row else None

        return await self._database.transact(work)

    async def renew(self, lease: SinkLease, lease_ms: int) -> None:
        async def work(tx: Transaction) -> None:
            _held(await tx.one("renew_sink", id=lease.sink_id, token=lease.token, lease=lease_ms))

        await self._database.transact(work)

    async def backlog(self, sink_id: int, limit: int = 100) -> list[SinkBacklog]:
        return await self._all("sink_backlog", SinkBacklog, id=sink_id, limit=limit)

    async def backlog_of(self, sink_id: int, run_id: int, *, held: bool = False) -> SinkBacklog | None:
        return await self._one("sink_backlog_of_run", SinkBacklog, id=sink_id, run_id=run_id, held=held)

    async def advance(self, lease: SinkLease, run_id: int, position: int, count: int) -> None:
        async def work(tx: Transaction) -> None:
            _held(await tx.one("advance_sink", id=lease.sink_id, token=lease.token, count=count))
            await tx.all("advance_position", id=lease.sink_id, run_id=run_id, position=position)

        await self._database.transact(work)

    async def refuse(self, lease: SinkLease, run_id: int, position: int, error: str, retry_ms: int) -> None:
        await self._write(
            "refuse_item", id=lease.sink_id, run_id=run_id, position=position, error=error, retry=retry_ms
        )

    async def fail(self, lease: SinkLease, error: str, retry_ms: int) -> None:
        await self._write("fail_sink", id=lease.sink_id, token=lease.token, error=error, retry=retry_ms)

    async def release(self, lease: SinkLease) -> None:
        await self._write("release_sink", id=lease.sink_id, token=lease.token)


async def _assign_sink(tx: Transaction, sink_id: int) -> None:
    await tx.all("lock_sink", id=sink_id)
    await tx.all("unassign_sink", id=sink_id)
    await tx.all("assign_sink", id=sink_id)


def _held(row: object) -> None:
    if row is None:
        raise StaleLease("another process delivers to this sink")
