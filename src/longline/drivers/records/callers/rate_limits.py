"""Token buckets of callers on either engine."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.token_bucket import TokenBucket, spend
from longline.ports.records.callers import Spending


class RateLimitRecords(Table):
    """Token buckets of callers, by name."""

    async def spend(self, spendings: Sequence[Spending]) -> dict[str, TokenBucket]:
        ordered = sorted(spendings)

        async def work(tx: Transaction) -> dict[str, TokenBucket]:
            # A new bucket is full. The insert comes first, so that every row exists and can be locked in one order.
            await tx.batch("add_rate_limits", [(one.name, one.limit * one.period_ms) for one in ordered])
            rows = {row["name"]: row for row in await tx.batch("lock_rate_limits", [(one.name,) for one in ordered])}
            spent = {}
            for name, limit, times, returned, period_ms in ordered:
                row = rows[name]
                since_ms = tx.now - row["spare_at"]
                spent[name] = spend(row["spare"], since_ms, limit, times, period_ms=period_ms, returned=returned)
            await tx.batch("spend_rate_limits", [(name, bucket.left) for name, bucket in spent.items()])
            return spent

        return await self._database.transact(work)

    async def forget(self, age_ms: int) -> None:
        await self._write("forget_rate_limits", age=age_ms)
