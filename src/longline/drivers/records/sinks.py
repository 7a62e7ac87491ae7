"""Sinks, their leases and their positions in runs, on either engine."""

import secrets

from longline.drivers.records.database import Transaction, struct
from longline.drivers.records.table import Table
from longline.model.errors import StaleLease
from longline.model.sinks.sink import SinkAddress, SinkBacklog, SinkLag, SinkLease, SinkRow

_UID_BYTES = 6


class SinkRecords(Table):
    """Sinks and their positions."""

    async def register(self, address: SinkAddress) -> SinkRow:
        uid = secrets.token_hex(_UID_BYTES)
        return struct(await self._make("put_sink", key=address.key, uid=uid, label=address.label), SinkRow)

    async def claim(self, sink_id: int, owner: int, lease_ms: int) -> SinkLease | None:
        async def work(tx: Transaction) -> SinkLease | None:
            row = await tx.one("claim_sink", id=sink_id, owner=owner, lease=lease_ms)
            return struct(row, SinkLease) if row else None

        return await self._database.transact(work)

    async def renew(self, lease: SinkLease, lease_ms: int) -> None:
        async def work(tx: Transaction) -> None:
            _held(await tx.one("renew_sink", id=lease.sink_id, token=lease.token, lease=lease_ms))

        await self._database.transact(work)

    async def backlog(self, sink_id: int, run_id: int | None = None, limit: int = 100) -> list[SinkBacklog]:
        if run_id is not None:
            return await self._all("sink_backlog_of_run", SinkBacklog, id=sink_id, run_id=run_id)
        return await self._all("sink_backlog", SinkBacklog, id=sink_id, limit=limit)

    async def advance(self, lease: SinkLease, run_id: int, position: int, count: int) -> None:
        async def work(tx: Transaction) -> None:
            _held(await tx.one("advance_sink", id=lease.sink_id, token=lease.token, count=count))
            await tx.all("put_sink_position", id=lease.sink_id, run_id=run_id, position=position)

        await self._database.transact(work)

    async def fail(self, lease: SinkLease, error: str, retry_ms: int) -> None:
        await self._write("fail_sink", id=lease.sink_id, token=lease.token, error=error, retry=retry_ms)

    async def release(self, lease: SinkLease) -> None:
        await self._write("release_sink", id=lease.sink_id, token=lease.token)

    async def lags(self) -> list[SinkLag]:
        return await self._all("sink_lags", SinkLag)


def _held(row: object) -> None:
    if row is None:
        raise StaleLease("another process delivers to this sink")
