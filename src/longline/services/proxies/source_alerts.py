"""Alerts: checked at intervals and on demand; each change is logged, not each check."""

import logging
from collections.abc import Awaitable, Callable

import msgspec

from longline.model.duration import MINUTE_MS
from longline.model.proxies.source_alerts import (
    Alert,
    AlertChange,
    AlertThresholds,
    DisabledSource,
    SourcePool,
    StuckRun,
    alerts_of,
    catalogue_alerts,
)
from longline.model.series.series_run import STUCK_AFTER_MS
from longline.ports.clock import Clock
from longline.ports.records.proxies import AlertStore

_log = logging.getLogger(__name__)

SCOPE = "sources"

QueueDepth = Callable[[], Awaitable[int]]
"""Returns the number of tasks that are due."""


def log_changes(change: AlertChange) -> None:
    """Log the alerts that began and ended."""
    for alert in change.raised:
        _log.warning("alert raised", extra={"kind": alert.kind, "subject": alert.subject, "reason": alert.text})
    for gone in change.cleared:
        _log.info("alert cleared", extra={"kind": gone.kind, "subject": gone.subject})


class AlertView(msgspec.Struct, frozen=True):
    """An alert that holds now; `since` is None until a look at intervals has noticed it."""

    alert: Alert
    since: int | None


class Alerts:
    """The alerts about the proxies of sources, the queue and catalogues."""

    def __init__(self, records: AlertStore, depth: QueueDepth, thresholds: AlertThresholds, clock: Clock) -> None:
        self._records, self._depth, self._thresholds, self._clock = records, depth, thresholds, clock

    async def find(self) -> list[AlertView]:
        """Return the alerts that hold now."""
        since = {one.key: one.since for one in await self._records.raised() if one.scope == SCOPE}
        return [AlertView(alert, since.get((alert.kind, alert.subject))) for alert in await self._look()]

    async def disabled(self) -> list[DisabledSource]:
        """Return the sources of catalogues that were disabled after failures in a row."""
        return await self._records.disabled()

    async def stuck(self) -> list[StuckRun]:
        """Return the runs of catalogues that are stuck."""
        return await self._records.stuck(self._clock.now() - STUCK_AFTER_MS)

    async def pools(self) -> list[SourcePool]:
        """Return the sums of the pools of all sources with recrawls, by name."""
        return await self._records.pools()

    async def once(self) -> AlertChange:
        """Check for alerts, and log those that began or ended since the last check of any process."""
        change = await self._records.settle(await self._look(), SCOPE)
        log_changes(change)
        return change

    async def _look(self) -> list[Alert]:
        limits = self._thresholds
        slow = await self._records.slow(limits.max_average_ms)
        found = alerts_of(await self._records.pools(), slow, await self._depth(), limits)
        minutes = STUCK_AFTER_MS // MINUTE_MS
        return found + catalogue_alerts(await self.disabled(), await self.stuck(), minutes)
