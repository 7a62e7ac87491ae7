"""The progress of sinks for the operator, on either engine."""

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.errors import NotFound
from longline.model.sinks.sink import UNSEEN_MS, SinkLag, SinkRunLag, SkippedItem


class SinkProgressRecords(Table):
    """The progress of sinks."""

    async def lags(self) -> list[SinkLag]:
        return await self._all("sink_lags", SinkLag)

    async def runs(self, sink_id: int, limit: int = 100) -> list[SinkRunLag]:
        return await self._all("sink_run_lags", SinkRunLag, id=sink_id, limit=limit)

    async def run(self, sink_id: int, run_id: int) -> SinkRunLag | None:
        return await self._one("sink_run_lag", SinkRunLag, id=sink_id, run_id=run_id)

    async def skip(self, sink_id: int, lag: SinkRunLag, position: int) -> bool:
        async def work(tx: Transaction) -> bool:
            await tx.all("lock_sinks")
            row = await tx.one("sink_run_lag", id=sink_id, run_id=lag.run_id)
            if row is None or row["position"] != lag.position:
                return False
            await tx.all("add_skip", id=sink_id, run_id=lag.run_id, position=position, error=lag.error)
            await tx.all("advance_position", id=sink_id, run_id=lag.run_id, position=position)
            return True

        skipped = {"id": sink_id, "run": lag.run_id, "position": position, "error": lag.error}
        return await audited_many(self._database, "sink", lambda done: skipped if done else None, work)

    async def skipped(self, sink_id: int, limit: int = 100) -> list[SkippedItem]:
        return await self._all("sink_skips", SkippedItem, id=sink_id, limit=limit)

    async def retry(self, sink_id: int) -> None:
        async def work(tx: Transaction) -> None:
            if not await tx.one("retry_sink", id=sink_id):
                raise NotFound("sink", sink_id)
            await tx.all("retry_sink_runs", id=sink_id)

        await audited_many(self._database, "sink", lambda _: {"id": sink_id}, work)

    async def remove(self, sink_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("drop_sink", id=sink_id, unseen=UNSEEN_MS) is not None

        return await audited_many(self._database, "sink", lambda done: {"id": sink_id} if done else None, work)
