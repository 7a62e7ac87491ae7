"""Alerts about the platform itself: engines that do not answer, stalled runs, failing requests and a late queue."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from longline.model.duration import MINUTE_MS
from longline.model.proxies.source_alerts import Alert, StalledRun

MIN_REQUESTS = 50
"""Requests of the window below which no share of failures raises an alert."""


class PlatformLimits(msgspec.Struct, frozen=True):
    """The thresholds of alerts about the platform."""

    stalled_ms: int = 30 * MINUTE_MS
    max_failure_percent: float = 10.0
    max_wait_ms: int = 10 * MINUTE_MS


def engine_alerts(failed: Mapping[str, str], machine: str) -> Iterator[Alert]:
    """Yield an alert for each engine that does not answer on a machine, by the kind of its failure."""
    for name, error in failed.items():
        text = f"the check of {name.replace('_', ' ')} fails on {machine}: {error}"
        yield Alert("engine_down", name, text, 1, 0)


def stalled_alerts(runs: Iterable[StalledRun], now: int, limits: PlatformLimits) -> Iterator[Alert]:
    """Yield an alert for each run of which no task has moved for too long."""
    for run in runs:
        minutes = (now - run.moved_at) // MINUTE_MS
        text = f"no task of run {run.id} of {run.title[:200]} has moved for {minutes} minutes, and {run.open} are open"
        limit = limits.stalled_ms // MINUTE_MS
        yield Alert("stalled_run", str(run.id), text, minutes, limit, run.source_id, run_id=run.id)


def request_alerts(requests: int, failures: int, limits: PlatformLimits) -> Iterator[Alert]:
    """Yield an alert if too many requests of all workers failed lately."""
    if requests >= MIN_REQUESTS and failures * 100 > limits.max_failure_percent * requests:
        share = round(100 * failures / requests, 1)
        limit = limits.max_failure_percent
        text = f"{share} % of {requests:,} requests in the last 15 minutes failed, more than {limit:g} %"
        yield Alert("failed_requests", "requests", text, share, limit)


def queue_alerts(oldest_ms: int, ready: int, limits: PlatformLimits) -> Iterator[Alert]:
    """Yield an alert if a ready host has waited for a worker for too long."""
    if oldest_ms > limits.max_wait_ms:
        minutes, limit = oldest_ms // MINUTE_MS, limits.max_wait_ms // MINUTE_MS
        text = f"a ready host has waited for a worker for {minutes} minutes, and {ready} are ready"
        yield Alert("late_queue", "queue", text, minutes, limit)
