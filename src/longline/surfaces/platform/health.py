"""`/health` and `/health/memory`: health checks for load balancers and operators. Public."""

import asyncio
import gc
import os
import resource
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from longline.model.duration import show_duration
from longline.services.health import CheckResult, Health, Status
from longline.surfaces.operation import ApiResponse, operation

KB_PER_MB = 1024


@dataclass(frozen=True, slots=True)
class HealthServices:
    """The health checks, and the version of the program."""

    health: Health
    version: str


class HealthBody(msgspec.Struct, frozen=True):
    """The state of the platform, in the words of the interval contract."""

    status: Status
    service: Literal["crawler"]
    version: str
    uptime: str
    checks: dict[str, CheckResult]


class MemoryBody(msgspec.Struct, frozen=True):
    """Resource usage of the process, memory in megabytes."""

    timestamp: str
    memory_mb: float
    memory_peak_mb: float
    num_gc: int
    num_tasks: int
    num_threads: int
    cpus: int


@operation(
    "GET",
    "/health",
    "Report whether the platform works",
    access="public",
    answers={200: HealthBody, 503: HealthBody},
)
async def show_health(services: HealthServices) -> ApiResponse[HealthBody]:
    """Answer 503 if a critical engine does not work."""
    report = await services.health.report()
    uptime = show_duration(int(report.uptime))
    body = HealthBody(report.status, "crawler", services.version, uptime, report.checks)
    return ApiResponse(body, 503 if report.status == "unhealthy" else 200)


@operation("GET", "/health/memory", "Report the resource usage of the process", access="public")
async def show_memory() -> MemoryBody:
    return MemoryBody(
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        memory_mb=round(_resident_mb(), 2),
        memory_peak_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KB_PER_MB, 2),
        num_gc=sum(generation["collections"] for generation in gc.get_stats()),
        num_tasks=len(asyncio.all_tasks()),
        num_threads=threading.active_count(),
        cpus=os.cpu_count() or 1,
    )


def _resident_mb() -> float:
    """Return the resident memory, or its peak on systems without `/proc`."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KB_PER_MB
    return pages * resource.getpagesize() / 1024 / KB_PER_MB


HEALTH = (show_health, show_memory)
