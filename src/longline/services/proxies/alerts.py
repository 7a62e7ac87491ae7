"""Alerts: looked for at intervals and on demand; a log line tells each change, not each look."""

import logging
from collections.abc import Awaitable, Callable

import msgspec

from longline.model.proxies.alert import Alert, AlertChange, AlertThresholds, SourcePool, alerts_of
from longline.ports.records.proxies import AlertStore

_log = logging.getLogger(__name__)

QueueDepth = Callable[[], Awaitable[int]]
"""Returns the number of tasks that are due."""


class AlertView(msgspec.Struct, frozen=True):
    """An alert that holds now; `since` is None until a look at intervals has noticed it."""

    alert: Alert
    since: int | None


class Alerts:
    """The alerts about the proxies of sources and the queue."""

    def __init__(self, records: AlertStore, depth: QueueDepth, thresholds: AlertThresholds) -> None:
        self._records, self._depth, self._thresholds = records, depth, thresholds

    async def find(self) -> list[AlertView]:
        """Return the alerts that hold now."""
        since = {(one.kind, one.subject): one.since for one in await self._records.raised()}
        return [AlertView(alert, since.get((alert.kind, alert.subject))) for alert in await self._look()]

    async def pools(self) -> list[SourcePool]:
        """Return the sums of the pools of all sources with recrawls, by name."""
        return await self._records.pools()

    async def once(self) -> AlertChange:
        """Look for alerts, and tell those that began or ended since the last look of any process."""
        change = await self._records.settle(await self._look())
        for alert in change.raised:
            _log.warning("alert raised", extra={"kind": alert.kind, "subject": alert.subject, "reason": alert.text})
        for gone in change.cleared:
            _log.info("alert cleared", extra={"kind": gone.kind, "subject": gone.subject})
        return change

    async def _look(self) -> list[Alert]:
        limits = self._thresholds
        slow = await self._records.slow(limits.max_average_ms)
        return alerts_of(await self._records.pools(), slow, await self._depth(), limits)
