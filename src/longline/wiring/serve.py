"""`longline up`, `api` and `worker`: the parts of the platform as one process, until a signal stops it."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace

from longline import __version__
from longline.drivers.cpu_wait_time import run_delay
from longline.drivers.disk_space import check_room
from longline.engine.loop_supervisor import RETRY_INTERVAL_SECONDS, run_loops, run_until
from longline.model.callers.door import BOTS, INTERVALS, MANIFESTS, PRODUCTS
from longline.model.errors import NeedsOperator, Unavailable
from longline.model.frontier.worker import UPKEEP
from longline.services.callers.console_sessions import OneTimeLogin
from longline.services.callers.rate_limits import RateLimits
from longline.services.health import Check, Health
from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.services.metrics.task_and_run_counts import Counts
from longline.settings import Settings
from longline.surfaces.app import AppParts, build_app
from longline.surfaces.platform.metrics_endpoint import Metrics, MetricsServices
from longline.surfaces.platform.metrics_listener import metrics_app
from longline.surfaces.platform.profile import LOOPBACK, MAX_SECONDS, profile_app
from longline.surfaces.server.connection import Deadlines
from longline.surfaces.server.http_server import HttpServer
from longline.wiring.doors.bots import bot_services
from longline.wiring.doors.catalogue import catalogue_services
from longline.wiring.doors.console import console
from longline.wiring.doors.intervals import interval_services
from longline.wiring.doors.manifests import manifest_services
from longline.wiring.doors.products import product_services
from longline.wiring.doors.streams import Streams
from longline.wiring.loops.loop_row import API, LoopParts
from longline.wiring.loops.loop_table import build_loops
from longline.wiring.otlp_export import otlp_export
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.subjects.archive import html_archiving
from longline.wiring.subjects.callers import access_tokens, api_keys
from longline.wiring.subjects.logs import closing_logs, copying_logs, writing_run_logs
from longline.wiring.subjects.manifests import register_pools
from longline.wiring.subjects.metrics import counting, operation, worker_liveness
from longline.wiring.subjects.search import indexing
from longline.wiring.subjects.sinks import sink_progress

log = logging.getLogger(__name__)


async def serve(
    settings: Settings,
    *,
    api: bool,
    roles: frozenset[str],
    ready: Callable[[str], None] | None = None,
    leashed: bool = False,
    link: OneTimeLogin | None = None,
) -> None:
    """Run until SIGTERM or SIGINT (or, leashed, until standard input ends); then drain and leave nothing leased.

    `link` logs a person in at the console, once.
    """
    stop = asyncio.Event()
    _stop_on_signals(stop)
    async with open_platform(settings) as platform:
        started = platform.clock.monotonic()
        # Only the all-in-one command migrates tables: a service that starts never does.
        await migrate_tables(platform, may_migrate=api and bool(roles))
        await register_pools(platform)
        async with (
            _profiling(settings.profile_port),
            counting(platform),
            _serving(platform, ready, link) if api else nullcontext(),
        ):
            await _work(platform, roles, stop, leashed=leashed)
            log.info("stopping: open connections and leases are ended")
    log.info("stopped", extra={"seconds": round(platform.clock.monotonic() - started, 1)})


@asynccontextmanager
async def _profiling(port: int) -> AsyncIterator[None]:
    """Serve the profiler on its port, if one is configured."""
    if not port:
        yield
        return
    server = HttpServer(Deadlines(write=2 * MAX_SECONDS))
    await server.start(profile_app(), LOOPBACK, port)
    try:
        yield
    finally:
        await server.stop()


@asynccontextmanager
async def _serving(
    platform: Platform, ready: Callable[[str], None] | None, link: OneTimeLogin | None = None
) -> AsyncIterator[None]:
    """Serve the doors for as long as the context lasts."""
    s, closing = platform.settings, asyncio.Event()
    server = HttpServer(Deadlines(s.server_read_timeout, s.server_write_timeout, s.server_idle_timeout))
    monitor = LoopMonitor(platform.clock, run_delay)
    parts, streams = _app_parts(platform, monitor, link)
    if parts.intervals is not None:
        await parts.intervals.runs.start_counting()
    metrics, telemetry = Metrics(parts.version), HttpServer()
    address = await server.start(build_app(parts, metrics), s.host, s.port)
    if metrics_address := s.tables.telemetry.metrics_addr:
        host, _, port = metrics_address.rpartition(":")
        listener = metrics_app(MetricsServices(metrics, parts.counts))
        log.info("metrics listen", extra={"url": await telemetry.start(listener, host.strip("[]"), int(port))})
    export = otlp_export(platform, metrics, parts.counts)
    loops = build_loops(LoopParts(platform, frozenset({API}), monitor=monitor, streams=streams, otlp_export=export))
    feeding = asyncio.create_task(run_loops(loops, closing))
    try:
        if ready is not None:
            ready(address)
        yield
    finally:
        closing.set()
        await feeding
        if export is not None:
            await export.close()
        # Clients of streams are disconnected first: the server waits for open connections.
        await streams.close()
        await telemetry.stop()
        await server.stop()


async def _work(platform: Platform, roles: frozenset[str], stop: asyncio.Event, *, leashed: bool) -> None:
    if not roles:
        await stop.wait()
        return
    await _wait_for_engine(platform, stop)
    if stop.is_set():
        return
    async with (
        registered_worker(platform, roles) as owner,
        copying_logs(platform) as log_copy,
        closing_logs(platform, log_copy) if UPKEEP in roles else nullcontext(),
        writing_run_logs(platform, log_copy) as run_log,
        html_archiving(platform) as html_archive,
        indexing(platform) as indexer,
    ):
        loops = build_loops(LoopParts(platform, roles, owner, run_log, log_copy, html_archive, indexer))
        if leashed:
            loops["standard input"] = _until_input_ends
        await run_loops(loops, stop)


async def _wait_for_engine(platform: Platform, stop: asyncio.Event) -> None:
    """Reap dead workers; an engine that went away since the tables were checked is waited for until a stop."""
    while not stop.is_set():
        try:
            await platform.reaper.reap_dead_workers()
            return
        except NeedsOperator:
            raise
        except Unavailable as error:
            log.warning("engine unavailable, work begins when it is back", extra={"error": str(error)})
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), RETRY_INTERVAL_SECONDS)


async def _until_input_ends(stop: asyncio.Event) -> None:
    # Not in a thread: a thread that reads cannot be stopped, and would keep the process from ending.
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    await run_until(stop, reader.read())
    transport.close()
    stop.set()


def _app_parts(platform: Platform, monitor: LoopMonitor, link: OneTimeLogin | None) -> tuple[AppParts, Streams]:
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
    health = Health(checks, platform.clock)
    streams = Streams(platform, health)
    limits = RateLimits(records.rate_limits, platform.clock)
    parts = AppParts(
        version=__version__,
        health=health,
        tokens=access_tokens(platform),
        open_doors=_open_doors(settings),
        local_doors=_local_doors(settings),
        api_keys=api_keys(platform),
        rate_limits=limits,
        per_minute=settings.caller_per_minute or None,
        counts=Counts(records.tasks, records.runs),
        metrics_open=settings.metrics_open or settings.loopback,
        bots=bot_services(platform),
        intervals=replace(interval_services(platform), logs=streams.logs, streams=streams.events),
        products=product_services(platform, health),
        catalogue=catalogue_services(platform),
        manifests=manifest_services(platform, limits, streams.followers),
        loop=monitor,
        operation=operation(platform),
        console=console(platform, streams, health, link),
    )
    return parts, streams


def _open_doors(settings: Settings) -> frozenset[str]:
    """Return the names of the APIs that need no credentials."""
    found = frozenset(
        name for name, given in _access_by_door(settings).items() if name != BOTS and settings.is_open(given)
    )
    for name in sorted(found) if not settings.loopback else ():
        log.warning("an API needs no credentials; set its access to key if strangers can reach it", extra={"api": name})
    return found


def _local_doors(settings: Settings) -> frozenset[str]:
    """Return the names of the APIs that are open to programs of this machine alone."""
    given = _access_by_door(settings)
    return frozenset(name for name in given if given[name] == "auto" and settings.loopback)


def _access_by_door(settings: Settings) -> dict[str, str]:
    return {
        INTERVALS: settings.intervals_access,
        BOTS: settings.bots_access,
        PRODUCTS: settings.products_access,
        MANIFESTS: settings.manifests_access,
    }


def _stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
