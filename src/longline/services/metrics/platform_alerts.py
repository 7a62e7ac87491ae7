"""Alerts about the platform: looked for at intervals and kept as rows, which pages read."""

import msgspec

from longline.model.metrics.platform_alerts import (
    PlatformLimits,
    engine_alerts,
    queue_alerts,
    request_alerts,
    stalled_alerts,
)
from longline.model.metrics.throughput import WINDOWS
from longline.model.proxies.source_alerts import Alert, AlertChange, AlertRow
from longline.ports.clock import Clock
from longline.ports.records.frontier.frontier import QueueFigureStore
from longline.ports.records.proxies import AlertStore
from longline.services.health import Health
from longline.services.metrics.throughput import Throughput
from longline.services.proxies.source_alerts import log_changes

SCOPE = "platform"
WINDOW = "15m"


class AlertFacts(msgspec.Struct, frozen=True):
    """The services and stores that the looks read; `machine` is the name of the one whose engines are checked."""

    store: AlertStore
    throughput: Throughput
    queue: QueueFigureStore
    health: Health
    clock: Clock
    machine: str


class PlatformAlerts:
    """The alerts of all scopes as rows. Engines are those of a machine: another machine's look does not clear them."""

    def __init__(self, facts: AlertFacts, limits: PlatformLimits) -> None:
        self._facts, self._limits = facts, limits

    async def raised(self) -> list[AlertRow]:
        """Return the alerts that hold, the oldest first, which costs one statement."""
        return await self._facts.store.raised()

    async def cleared(self, limit: int, before: tuple[int, int] | None = None) -> list[AlertRow]:
        """Return the alerts that ended last; `before` continues a list behind (end, id)."""
        return await self._facts.store.cleared(limit, before)

    async def once(self) -> AlertChange:
        """Look for alerts, and tell those that began or ended since the last look of any process."""
        facts = self._facts
        report = await facts.health.report()
        failed = {name: one.error or one.status for name, one in report.checks.items() if one.status != "healthy"}
        engines = await facts.store.settle(list(engine_alerts(failed, facts.machine)), f"engines of {facts.machine}")
        others = await facts.store.settle(await self._look(), SCOPE)
        change = AlertChange(engines.raised + others.raised, engines.cleared + others.cleared)
        log_changes(change)
        return change

    async def _look(self) -> list[Alert]:
        facts, limits, now = self._facts, self._limits, self._facts.clock.now()
        stalled = await facts.store.stalled(now - limits.stalled_ms)
        lately, queue = await facts.throughput.read(WINDOWS[WINDOW]), await facts.queue.queue_figures()
        return [
            *stalled_alerts(stalled, now, limits),
            *request_alerts(lately.total("requests"), lately.total("failures"), limits),
            *queue_alerts(queue.oldest_ms, queue.hosts_ready, limits),
        ]
