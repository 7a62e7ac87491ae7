"""Alerts on either engine: the facts that raise them, and the alerts that hold."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction, struct
from longline.drivers.records.table import Table
from longline.model.proxies.alert import Alert, AlertChange, RaisedAlert, SlowProxy, SourcePool, settled
from longline.model.proxies.proxy import SKIP_AFTER_FAILURES

MAX_SLOW_PROXIES = 1000


class AlertRecords(Table):
    """The pools of sources in sums, and raised alerts."""

    async def pools(self) -> list[SourcePool]:
        return await self._all("source_pools", SourcePool, failing=SKIP_AFTER_FAILURES)

    async def slow(self, above_ms: int) -> list[SlowProxy]:
        return await self._all("slow_proxies", SlowProxy, above_ms=above_ms, limit=MAX_SLOW_PROXIES)

    async def raised(self) -> list[RaisedAlert]:
        return await self._all("raised_alerts", RaisedAlert)

    async def settle(self, found: Sequence[Alert]) -> AlertChange:
        async def work(tx: Transaction) -> AlertChange:
            # One row is locked first: of two processes that look at the same time, one raises an alert.
            await tx.all("lock_alerts")
            known = [struct(row, RaisedAlert) for row in await tx.all("raised_alerts")]
            change = settled(found, known)
            await tx.batch("raise_alerts", [(one.kind, one.subject) for one in change.raised])
            await tx.batch("clear_alerts", [(one.kind, one.subject) for one in change.cleared])
            return change

        return await self._database.transact(work)
