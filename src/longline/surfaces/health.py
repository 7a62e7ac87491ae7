"""`/health` and `/health/memory`: health checks for load balancers and operators. Public."""

import asyncio
import gc
import os
import resource
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from litestar import HttpMethod, Response, get, route
from litestar.handlers import HTTPRouteHandler

from longline.model.duration import show_duration
from longline.services.health import CheckResult, Health, Status

KB_PER_MB = 1024


class HealthBody(msgspec.Struct, frozen=True):
    """The response body, in the words of the interval contract."""

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


def memory_route() -> HTTPRouteHandler:
    """Return the handler for GET."""

    @get("/health/memory", summary="What the process takes")
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

    return show_memory


def _resident_mb() -> float:
    """Return the resident memory, or its peak on systems without `/proc`."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KB_PER_MB
    return pages * resource.getpagesize() / 1024 / KB_PER_MB


def health_route(health: Health, version: str) -> HTTPRouteHandler:
    """Return the handler for GET and HEAD."""

    @route("/health", http_method=[HttpMethod.GET, HttpMethod.HEAD], summary="Whether the platform works")
    async def show_health() -> Response[HealthBody]:
        report = await health.report()
        body = HealthBody(report.status, "crawler", version, show_duration(int(report.uptime)), report.checks)
        return Response(body, status_code=503 if report.status == "unhealthy" else 200)

    return show_health
