"""Checks of the health of the platform: the engines in use, and those without which it is unhealthy."""

import asyncio

from longline.drivers.disk_space import check_room
from longline.services.health import Check
from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.wiring.platform import Platform
from longline.wiring.subjects.metrics import worker_liveness
from longline.wiring.subjects.sinks import sink_progress


def health_checks(platform: Platform, monitor: LoopMonitor) -> list[Check]:
    """Return the checks of all engines; critical ones make the platform unhealthy, all others degrade it."""
    records, settings = platform.records, platform.settings

    async def database() -> str:
        await records.schema.now()
        return await records.schema.version()

    # Health responses are public: they name the kind of engine, not its address.
    async def objects() -> str:
        return (await platform.blobs.check()).split()[0]

    async def redis() -> str:
        return (await platform.signals.check()).split()[0]

    async def disk() -> str:
        return await asyncio.to_thread(check_room, settings.data)

    checks = [Check("database", database, critical=True), Check("objects", objects), Check("disk", disk)]
    if settings.redis:
        checks.append(Check("redis", redis))
    if settings.search:
        checks.append(Check("search", platform.search.check))
    checks.append(Check("workers", worker_liveness(platform).check))
    if settings.sinks:
        checks.append(Check("sinks", sink_progress(platform).check))
    checks.append(Check("event_loop", monitor.check))
    return checks
