"""The counters of this process, and the figures of all processes."""

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from longline.engine.loop_supervisor import chore, run_loops
from longline.engine.metrics import FLUSH_INTERVAL_SECONDS, IDLE_FLUSH_INTERVAL_SECONDS
from longline.model.errors import Unavailable
from longline.model.frontier.worker import ROLES, UPKEEP
from longline.model.metrics.platform_alerts import PlatformLimits
from longline.services.health import Health
from longline.services.metrics.platform_alerts import AlertFacts, PlatformAlerts
from longline.services.metrics.platform_figures import PlatformFigureReader
from longline.services.metrics.throughput import Throughput
from longline.services.metrics.worker_liveness import WorkerLiveness
from longline.settings import Settings
from longline.wiring.platform import Platform

URL_ORIGINS = ("scheduler", "frontier", "feeds", "feed_discovery", "sitemaps", "discovery")
"""Settings of the loops that bring URLs to fetch."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def counting(platform: Platform) -> AsyncIterator[None]:
    """Add the counts of this process to the database while the context lasts, and at its end."""

    flushed_at = platform.clock.monotonic()
    name = f"{socket.gethostname()}:{os.getpid()}"

    async def flush() -> None:
        nonlocal flushed_at
        flushed_at = platform.clock.monotonic()
        await platform.metrics.flush(platform.records.counters, name)

    async def flush_work() -> None:
        if platform.metrics.has_work or platform.clock.monotonic() - flushed_at >= IDLE_FLUSH_INTERVAL_SECONDS:
            await flush()

    stop = asyncio.Event()
    flushing = asyncio.create_task(run_loops({"metric counters": chore(flush_work, FLUSH_INTERVAL_SECONDS)}, stop))
    try:
        yield
    finally:
        stop.set()
        await flushing
        try:
            await flush()
        except Unavailable as error:
            log.warning("last counts of metrics not stored", extra={"error": str(error)})


def operation(platform: Platform) -> PlatformFigureReader:
    """Return the reader of the figures of all processes."""
    records, folder = platform.records, platform.settings.data
    return PlatformFigureReader(
        records.counters,
        records.figures,
        worker_liveness(platform),
        records.sink_progress,
        lambda: shutil.disk_usage(folder).free,
    )


def worker_liveness(platform: Platform) -> WorkerLiveness:
    """Return the liveness of the workers of all processes."""
    records = platform.records
    return WorkerLiveness(records.workers, records.figures, platform.clock, needed_roles(platform.settings))


def needed_roles(settings: Settings) -> frozenset[str]:
    """Return the roles that the settings need: without any origin of URLs, a platform of bots needs upkeep alone."""
    fetches = any(getattr(settings, name) for name in URL_ORIGINS)
    return frozenset(ROLES if fetches else (UPKEEP,))


def platform_alerts(platform: Platform, health: Health) -> PlatformAlerts:
    """Return the alerts about the platform."""
    records, settings = platform.records, platform.settings
    facts = AlertFacts(
        records.alerts,
        Throughput(records.throughput, platform.clock),
        records.figures,
        health,
        platform.clock,
        socket.gethostname(),
    )
    limits = PlatformLimits(
        round(settings.alert_stalled_run * 1000),
        settings.alert_failure_percent,
        round(settings.alert_queue_wait * 1000),
    )
    return PlatformAlerts(facts, limits)
