"""Logs and streams, from the parts of the platform."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from longline.drivers.blobs import open_blobs
from longline.drivers.extras import load_driver
from longline.engine.logs.log_months import LogMonthKeeper
from longline.engine.logs.redis_copy import RedisLogCopy
from longline.engine.logs.run_log_keeper import GRACE_MS, HEARTBEAT_INTERVAL_MS, RunLogKeeper, RunLogKeeperSettings
from longline.engine.logs.run_log_writer import (
    CLOSE_TIMEOUT_SECONDS,
    WRITE_INTERVAL_SECONDS,
    RunLogSettings,
    RunLogWriter,
)
from longline.engine.loop_supervisor import chore, run_loops
from longline.model.errors import Unavailable
from longline.model.logs.run_log import DueLog, LogFilter
from longline.ports.blobs import Blobs
from longline.services.logs.log_pages import LogPages
from longline.settings import Settings
from longline.wiring.platform import Platform

log = logging.getLogger(__name__)

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


def run_log_blobs(platform: Platform) -> Blobs:
    settings = platform.settings
    return platform.blobs if settings.run_log_objects == settings.objects else open_blobs(settings.run_log_objects)


def catalogue_logs(platform: Platform) -> LogPages:
    """Return the logs of runs of catalogues, which are kept by month beside the pages."""
    return LogPages(platform.records.log_pages, platform.blobs)


@asynccontextmanager
async def copying_logs(platform: Platform) -> AsyncIterator[RedisLogCopy | None]:
    """Yield the copier of logs, or None unless Redis and the copy are configured."""
    s = platform.settings
    if not (s.run_log_mirror and s.redis):
        yield None
        return
    driver = load_driver("longline.drivers.logs.redis_streams")
    copies = driver.RedisLogCopies(s.redis, s.run_log_mirror, round(s.run_log_ttl))
    try:
        yield RedisLogCopy(platform.records.logs, copies)
    finally:
        await copies.close()


def _wanted(settings: Settings) -> LogFilter:
    level = "debug" if settings.run_log_verbosity in ("debug", "trace") else "info"
    if settings.run_log_level != "auto":
        level = settings.run_log_level
    return LogFilter(level, settings.run_log_verbosity == "quiet")


@asynccontextmanager
async def writing_run_logs(
    platform: Platform, log_copy: RedisLogCopy | None = None
) -> AsyncIterator[RunLogWriter | None]:
    """Write the log entries of runs in this process, to the last one."""
    s = platform.settings
    if not s.run_logs:
        yield None
        return
    wanted = RunLogSettings(**msgspec.structs.asdict(_wanted(s)), rate=s.run_log_rate)
    writer = RunLogWriter(platform.records.logs, platform.signals, platform.clock, wanted, log_copy)
    stop, root, ours = asyncio.Event(), logging.getLogger(), logging.getLogger(__name__.partition(".")[0])
    usual = ours.level
    root.addHandler(writer)
    # The level of run logs is independent of the level of the service's log.
    ours.setLevel(min(ours.getEffectiveLevel(), _LEVELS[wanted.level]))
    writing = asyncio.create_task(run_loops({"run log": chore(writer.write, WRITE_INTERVAL_SECONDS)}, stop))
    try:
        yield writer
    finally:
        stop.set()
        root.removeHandler(writer)
        ours.setLevel(usual)
        await asyncio.gather(writing, return_exceptions=True)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await writer.write()
        except TimeoutError:
            log.warning("run log entries not written before the shutdown deadline")


def run_log_keeper(platform: Platform, log_copy: RedisLogCopy | None = None, grace_ms: int = GRACE_MS) -> RunLogKeeper:
    """Return the keeper of the logs of all runs."""
    s = platform.settings
    wanted = RunLogKeeperSettings(
        archive=s.run_log_archive,
        wanted=_wanted(s),
        due=DueLog(HEARTBEAT_INTERVAL_MS, s.run_log_milestone, grace_ms),
        entries_ms=round(s.run_log_ttl * 1000),
        logs_ms=round(s.run_log_retention * 1000),
    )
    return RunLogKeeper(
        platform.records.logs, run_log_blobs(platform), platform.signals, platform.clock, wanted, log_copy
    )


def log_month_keeper(platform: Platform) -> LogMonthKeeper:
    """Return the keeper of the months of logs."""
    return LogMonthKeeper(platform.records.catalogues.log_months, run_log_blobs(platform), platform.clock)


@asynccontextmanager
async def closing_logs(platform: Platform, log_copy: RedisLogCopy | None = None) -> AsyncIterator[None]:
    """Close and archive the logs of runs that the stop broke off, after their last entry."""
    yield
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
            await run_log_keeper(platform, log_copy, grace_ms=0).once()
    except (Unavailable, TimeoutError) as error:
        log.warning("run logs not archived before the shutdown deadline", extra={"error": str(error)})
