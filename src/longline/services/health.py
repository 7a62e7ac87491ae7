"""Health of the platform: checks of all engines, run concurrently."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from longline.model.errors import CorruptDatabase, DiskFull, PoolsFailing, RoleUnstaffed, SinkFailing
from longline.ports.clock import Clock

Status = Literal["healthy", "degraded", "unhealthy"]

CHECK_TIMEOUT_SECONDS = 2.0
"""Seconds that one check may take."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """An engine and its probe. Failure of a *critical* engine is unhealthy, of any other engine degraded."""

    name: str
    probe: Callable[[], Awaitable[str]]
    critical: bool = False


class CheckResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one check. The error has no address, as the report is public."""

    status: Status
    response_time_ms: float
    detail: str | None = None
    error: str | None = None


class Report(msgspec.Struct, frozen=True):
    """The health of the platform; `status` is the worst status of all checks."""

    status: Status
    uptime: float
    checks: dict[str, CheckResult]


class Health:
    """Runner of the checks: all run concurrently, each with its own deadline."""

    def __init__(self, checks: Sequence[Check], clock: Clock, patience: float = CHECK_TIMEOUT_SECONDS) -> None:
        self._checks = tuple(checks)
        self._clock = clock
        self._patience = patience
        self._started = clock.monotonic()

    async def report(self) -> Report:
        """Run all checks now."""
        results = await asyncio.gather(*(self._run(check) for check in self._checks))
        named = {check.name: result for check, result in zip(self._checks, results, strict=True)}
        return Report(_worst(results), self._clock.monotonic() - self._started, named)

    async def _run(self, check: Check) -> CheckResult:
        begun = self._clock.monotonic()

        def taken() -> float:
            return round((self._clock.monotonic() - begun) * 1000, 1)

        try:
            async with asyncio.timeout(self._patience):
                detail = await check.probe()
        except Exception as error:
            _log.warning(
                "health check failed", extra={"check": check.name, "reason": str(error) or "no answer in time"}
            )
            # A full disk stops the whole platform, whichever engine reports it first.
            critical = check.critical or isinstance(error, DiskFull)
            return CheckResult("unhealthy" if critical else "degraded", taken(), error=_kind(error))
        return CheckResult("healthy", taken(), detail)


def _kind(error: Exception) -> str:
    """Return the kind of a failure for the report."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, DiskFull):
        return "disk full"
    if isinstance(error, SinkFailing | PoolsFailing | RoleUnstaffed):
        return str(error)
    return "database corrupt" if isinstance(error, CorruptDatabase) else "unavailable"


def _worst(results: Sequence[CheckResult]) -> Status:
    found = {result.status for result in results}
    return "unhealthy" if "unhealthy" in found else "degraded" if "degraded" in found else "healthy"
