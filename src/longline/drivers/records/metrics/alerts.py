"""Alerts on either engine: the facts that raise them, and the alerts that hold."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.paging import AFTER_EVERY_ROW
from longline.drivers.records.row_structs import Table, struct
from longline.model.proxies.proxy import SKIP_AFTER_FAILURES
from longline.model.proxies.source_alerts import (
    CLEARED_KEPT_MS,
    Alert,
    AlertChange,
    AlertRow,
    DisabledSource,
    SlowProxy,
    SourcePool,
    StalledRun,
    StuckRun,
    settled,
)

MAX_SLOW_PROXIES = 1000
MAX_ALERTS = 1000
"""Largest number of alerts of one kind about runs and catalogues."""


class AlertRecords(Table):
    """The pools of sources in sums, stalled runs, and alerts."""

    async def pools(self) -> list[SourcePool]:
        return await self._all("source_pools", SourcePool, failing=SKIP_AFTER_FAILURES)

    async def slow(self, above_ms: int) -> list[SlowProxy]:
        return await self._all("slow_proxies", SlowProxy, above_ms=above_ms, limit=MAX_SLOW_PROXIES)

    async def disabled(self) -> list[DisabledSource]:
        return await self._all("sources_disabled_by_failures", DisabledSource, limit=MAX_ALERTS)

    async def stuck(self, started_before: int) -> list[StuckRun]:
        return await self._all("stuck_runs", StuckRun, started_before=started_before, limit=MAX_ALERTS)

    async def stalled(self, before: int) -> list[StalledRun]:
        return await self._all("stalled_runs", StalledRun, before=before, limit=MAX_ALERTS)

    async def raised(self) -> list[AlertRow]:
        return await self._all("raised_alerts", AlertRow)

    async def cleared(self, limit: int, before: tuple[int, int] | None = None) -> list[AlertRow]:
        at, alert_id = before or (AFTER_EVERY_ROW, AFTER_EVERY_ROW)
        return await self._all("cleared_alerts", AlertRow, limit=limit, at=at, id=alert_id)

    async def settle(self, found: Sequence[Alert], scope: str) -> AlertChange:
        async def work(tx: Transaction) -> AlertChange:
            # One row is locked first: of two processes that look at the same time, one raises an alert.
            await tx.all("lock_alerts")
            known = [struct(row, AlertRow) for row in await tx.all("raised_alerts")]
            change = settled(found, known, scope, tx.now)
            rows = [(a.kind, a.subject, a.text, a.source_id, a.proxy_id, a.run_id) for a in change.raised]
            await tx.batch("raise_alerts", rows, scope=scope)
            await tx.batch("keep_alerts", [(one.kind, one.subject, one.text) for one in found], scope=scope)
            await tx.batch("clear_alerts", [(one.id,) for one in change.cleared])
            await tx.all("forget_alerts", before=tx.now - CLEARED_KEPT_MS)
            return change

        return await self._database.transact(work)
