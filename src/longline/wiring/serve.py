"""`longline up`, `api` and `worker`: the parts of the house as one process, until a signal stops it."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace

import msgspec

from longline import __version__
from longline.drivers.disk_space import check_room
from longline.engine.fetch.fetcher import ResponseObserver
from longline.engine.frontier.drop_ended_runs import EndedRunFilter
from longline.engine.frontier.held_hosts import MAX_PAUSE_SECONDS
from longline.engine.frontier.log_standing_counts import StandingCountLog
from longline.engine.frontier.wake_standing import StandingWaker
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.loops import Loop, chore, run_loops, run_until
from longline.engine.proxies.prober import Prober
from longline.engine.search.indexer import Indexer
from longline.services.counts import Counts
from longline.services.event_loop_lag import LoopMonitor
from longline.services.health import Check, Health
from longline.services.tokens import Tokens
from longline.settings import Settings, jwt_secret
from longline.settings.child_process import environment
from longline.surfaces.app import AppParts, build_app
from longline.surfaces.connection import Deadlines
from longline.surfaces.profile import LOOPBACK, MAX_SECONDS, profile_app
from longline.surfaces.server import HttpServer
from longline.wiring.doors.bots import bot_services, bot_upkeep
from longline.wiring.doors.intervals import interval_services, source_events_loop
from longline.wiring.house import WANT, WORK, House, joined, open_house, ready_tables
from longline.wiring.parts.archive import html_archiving
from longline.wiring.parts.discovery import scout
from longline.wiring.parts.feeds import LOOK_EVERY, feed_chores
from longline.wiring.parts.logs import LOOK_AFTER_EVERY, Streams, closing, journaling, mirroring, scribe
from longline.wiring.parts.schedules import planner_loops
from longline.wiring.parts.search import indexing
from longline.wiring.parts.sources import plan_cache
from longline.wiring.signals import listener
from longline.wiring.worker import fetch_worker, parse_worker, report_observers

log = logging.getLogger(__name__)

RECALL_EVERY = 1.0
PROBE_EVERY = 60.0
TIDY_EVERY = 600.0
BOUND_PAUSES_EVERY = 3600.0
PLAN_EVERY = 5.0
SWEEP_EVERY = 60.0
WAKE_EVERY = 3600.0
COUNT_EVERY = 60.0


async def serve(
    settings: Settings,
    *,
    api: bool,
    roles: frozenset[str],
    ready: Callable[[str], None] | None = None,
    leashed: bool = False,
) -> None:
    """Run until SIGTERM or SIGINT (or, leashed, until standard input ends); then drain and leave nothing leased."""
    stop = asyncio.Event()
    _stop_on_signals(stop)
    async with open_house(settings) as house:
        # Only the all-in-one command migrates tables: a service that starts never does.
        await ready_tables(house, may_migrate=api and bool(roles))
        async with _profiling(settings.profile_port), _serving(house, ready) if api else nullcontext():
            await _work(house, roles, stop, leashed=leashed)


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
async def _serving(house: House, ready: Callable[[str], None] | None) -> AsyncIterator[None]:
    """Serve the doors for as long as the context lasts."""
    s, closing = house.settings, asyncio.Event()
    server = HttpServer(Deadlines(s.server_read_timeout, s.server_write_timeout, s.server_idle_timeout))
    monitor = LoopMonitor(house.clock)
    parts, streams = _parts(house, monitor)
    if parts.intervals is not None:
        await parts.intervals.runs.start_counting()
    address = await server.start(build_app(parts), s.host, s.port)
    feeding = asyncio.create_task(run_loops({"loop monitor": monitor.run, **streams.loops()}, closing))
    try:
        if ready is not None:
            ready(address)
        yield
    finally:
        closing.set()
        await feeding
        # Clients of streams are disconnected first: the server waits for open connections.
        await streams.close()
        await server.stop()


async def _work(house: House, roles: frozenset[str], stop: asyncio.Event, *, leashed: bool) -> None:
    if not roles:
        await stop.wait()
        return
    await house.reaper.bury()
    async with (
        joined(house, roles) as owner,
        mirroring(house) as mirror,
        closing(house, mirror) if "upkeep" in roles else nullcontext(),
        journaling(house, mirror) as journal,
        html_archiving(house) as witness,
        indexing(house) as indexer,
    ):
        loops = _loops(house, roles, owner, journal, witness, indexer)
        if "upkeep" in roles:
            loops["scribe"] = chore(scribe(house, mirror).once, LOOK_AFTER_EVERY)
        if leashed:
            loops["leash"] = _until_input_ends
        await run_loops(loops, stop)


def _loops(
    house: House,
    roles: frozenset[str],
    owner: int,
    journal: RunLogWriter | None = None,
    witness: ResponseObserver | None = None,
    indexer: Indexer | None = None,
) -> dict[str, Loop]:
    loops: dict[str, Loop] = {}
    if "fetch" in roles:
        observers = report_observers(house, journal)
        worker = fetch_worker(
            house,
            owner,
            plans=plan_cache(house),
            parse="parse" in roles,
            response_observer=witness,
            report_observers=observers,
        )
        loops["fetch"] = worker.run
        loops["signals"] = listener(house, WORK, worker.nudge)
        loops["sharing"] = listener(house, WANT, worker.share)
        loops["recall"] = chore(EndedRunFilter(worker.hand, house.records.history).once, RECALL_EVERY)
    if "parse" in roles:
        loops["parse"] = parse_worker(house, owner).run
    if "upkeep" in roles:
        loops["reaper"] = chore(house.reaper.once, house.settings.reap)
        most_ms = round(MAX_PAUSE_SECONDS * 1000)
        loops["pauses"] = chore(lambda: house.records.frontier.bound_pauses(most_ms), BOUND_PAUSES_EVERY)
        prober = Prober(house.stored_proxies, house.http, house.clock, house.settings.probe_url)
        loops["prober"] = chore(prober.once, PROBE_EVERY)
        loops["index"] = chore((indexer or house.indexer).once, house.settings.index_every)
        loops["tidy"] = chore(house.indexer.tidy, TIDY_EVERY)
        bots = bot_upkeep(house)
        loops["tasks for bots"] = chore(bots.plan, PLAN_EVERY)
        loops["leases of bots"] = chore(bots.sweep, SWEEP_EVERY)
        loops |= feed_chores(house)
        if house.settings.discovery:
            loops["scout"] = chore(scout(house).once, LOOK_EVERY)
        loops["census"] = chore(StandingCountLog(house.records.standing).once, COUNT_EVERY)
        if house.settings.frontier:
            loops["waker"] = chore(StandingWaker(house.records.standing).once, WAKE_EVERY)
        loops |= planner_loops(house, owner, journal) if house.settings.scheduler else {}
        if house.settings.source_events and house.settings.redis:
            loops["source events"] = source_events_loop(house)
    if {"fetch", "upkeep"} <= roles and house.settings.workers > 1:
        loops |= {f"worker {n}": _child(house.settings) for n in range(2, house.settings.workers + 1)}
    return loops


def _child(settings: Settings) -> Loop:
    """Return a loop that runs one more worker process, which stops when its standard input ends with this process."""

    async def loop(stop: asyncio.Event) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "longline.cli", "worker", "--roles", "fetch,parse", "--leashed"),
            stdin=asyncio.subprocess.PIPE,
            env=_child_environment(settings),
        )
        await run_until(stop, process.wait())
        with suppress(ProcessLookupError):
            process.terminate()
        code = await process.wait()
        if not stop.is_set():
            raise RuntimeError(f"a worker process ended with code {code}")

    return loop


def _child_environment(settings: Settings) -> Mapping[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("LONGLINE_")}
    # A port cannot be bound twice.
    return others | environment(msgspec.structs.replace(settings, profile_port=0))


async def _until_input_ends(stop: asyncio.Event) -> None:
    # Not in a thread: a thread that reads cannot be stopped, and would keep the process from ending.
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    await run_until(stop, reader.read())
    transport.close()
    stop.set()


def _parts(house: House, monitor: LoopMonitor) -> tuple[AppParts, Streams]:
    records, settings = house.records, house.settings

    async def database() -> str:
        await records.schema.now()
        return await records.schema.version()

    # Health responses are public: they name the kind of engine, not its address.
    async def objects() -> str:
        return (await house.blobs.check()).split()[0]

    async def redis() -> str:
        return (await house.signals.check()).split()[0]

    async def disk() -> str:
        return await asyncio.to_thread(check_room, settings.data)

    checks = [Check("database", database, critical=True), Check("objects", objects), Check("disk", disk)]
    if settings.redis:
        checks.append(Check("redis", redis))
    if settings.search:
        checks.append(Check("search", house.search.check))
    checks.append(Check("event_loop", monitor.check))
    health = Health(checks, house.clock)
    streams = Streams(house, health)
    parts = AppParts(
        version=__version__,
        health=health,
        tokens=Tokens(jwt_secret(settings), house.clock.wall, settings.api_key),
        counts=Counts(records.tasks, records.runs),
        metrics_open=settings.metrics_open or settings.loopback,
        bots=bot_services(house),
        intervals=replace(interval_services(house), logs=streams.logs, streams=streams.events),
        loop=monitor,
    )
    return parts, streams


def _stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
