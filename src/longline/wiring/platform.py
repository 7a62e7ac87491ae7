"""The platform: every engine behind its port, opened from settings and closed in order."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec

from longline.drivers.blobs import open_blobs
from longline.drivers.cache import open_cache
from longline.drivers.clock import SystemClock
from longline.drivers.extras import load_driver
from longline.drivers.http.client import WreqHttp
from longline.drivers.http.connection_pool import TlsSettings
from longline.drivers.http.dns import NameResolver
from longline.drivers.http.egress_guard import GuardedResolver
from longline.drivers.http.render import RenderingHttp
from longline.drivers.http.replay import Fixtures, RecordingHttp, ReplayingHttp
from longline.drivers.process_lock import PROCESS_LOCKS_FOLDER, FileProcessLock
from longline.drivers.records import is_write_protected, open_records
from longline.drivers.schedules.no_page_changes import NoPageChanges
from longline.drivers.search import NodeOptions, open_search
from longline.drivers.signals import open_signals
from longline.drivers.sources.source_manager import HttpSourceManager
from longline.engine.fetch.robots import RobotsCache
from longline.engine.frontier.lapsed_leases import Reaper
from longline.engine.frontier.recrawl_runs import RecrawlPlans
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import By, PolitenessKey
from longline.engine.loop_supervisor import chore
from longline.engine.metrics import MetricCounters
from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.parser_process import Limits
from longline.engine.parse.process_pool import ProcessPool
from longline.engine.proxies.stored_proxies import StoredProxies
from longline.engine.search.indexer import Indexer
from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput, Unavailable
from longline.model.fetch.egress import AddressPolicy
from longline.model.frontier.worker import HEARTBEAT_INTERVAL_SECONDS
from longline.model.signal_topics import DONE_TOPIC, DUE_TOPIC, PROXIES_TOPIC, SETTINGS_TOPIC, WANT_TOPIC, WORK_TOPIC
from longline.parsers.built_in_parsers import BUILT_IN
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY
from longline.plugins.parser_files import absolute_place
from longline.plugins.parser_reload import LoadedParsers
from longline.plugins.registry import ParserSources
from longline.ports.blobs import StreamingBlobs
from longline.ports.cache import Cache
from longline.ports.clock import Clock
from longline.ports.http import StreamingHttp
from longline.ports.process_lock import ProcessLock
from longline.ports.records import Records
from longline.ports.records.schedules import PageChangeStore
from longline.ports.run_queue import RunQueue
from longline.ports.search import Search
from longline.ports.signals import Signals
from longline.ports.sources import SourceManager
from longline.services.callers.tokens import SERVICE_TOKEN_SECONDS, Tokens
from longline.services.proxies.proxies import Proxies
from longline.settings import Settings, jwt_secret, prepare_folder, readable_vault_key, vault_key

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Platform:
    """All opened engines; `source_manager` is the service that keeps sources, where one is configured.

    `writable` is False for a database that this user may only read.
    """

    settings: Settings
    clock: Clock
    records: Records
    blobs: StreamingBlobs
    signals: Signals
    http: StreamingHttp
    presence: ProcessLock
    politeness: PolitenessKey
    vault: Vault
    parsers: LoadedParsers
    parser: PageParser
    search: Search
    page_change_store: PageChangeStore
    cache: Cache
    run_queue: RunQueue | None = None
    source_manager: SourceManager | None = None
    metrics: MetricCounters = field(default_factory=MetricCounters)
    robots: RobotsCache = field(default_factory=RobotsCache)
    recrawl_plans: RecrawlPlans = field(default_factory=RecrawlPlans)
    writable: bool = True

    @property
    def lifecycle(self) -> Lifecycle:
        """Return the lifecycle, which makes all moves."""
        return Lifecycle(self.records, self.politeness, self.call_workers, self._call_followers)

    @property
    def stored_proxies(self) -> StoredProxies:
        """Return the stored proxies."""
        return StoredProxies(self.records.proxies, self.vault)

    @property
    def proxies(self) -> Proxies:
        """Return the service of proxies."""
        return Proxies(self.records.proxies, self.vault, self.tell_proxies)

    async def call_workers(self) -> None:
        """Signal workers to look for tasks at once."""
        await self._call(WORK_TOPIC)

    async def _call_followers(self) -> None:
        await self._call(DONE_TOPIC)

    async def call_for_work(self) -> None:
        """Signal other workers to release hosts to this idle worker."""
        await self._call(WANT_TOPIC)

    async def call_schedulers(self) -> None:
        """Signal schedulers to look for due schedules at once."""
        await self._call(DUE_TOPIC)

    async def tell_settings(self, source_id: int) -> None:
        """Signal all processes to read the settings of a source again."""
        await self._call(SETTINGS_TOPIC, str(source_id))

    async def tell_proxies(self, proxy_id: int | None = None) -> None:
        """Signal workers that there are other proxies, or that one has changed."""
        await self._call(PROXIES_TOPIC, "" if proxy_id is None else str(proxy_id))

    async def _call(self, topic: str, text: str = "") -> None:
        try:
            await self.signals.send(topic, text)
        except Unavailable as error:
            # The receivers also poll, only later.
            log.warning("signal not sent", extra={"topic": topic, "error": str(error)})

    @property
    def reaper(self) -> Reaper:
        """Return the chore that takes leases back."""
        return Reaper(self.lifecycle, self.records.workers, self.records.segments, self.blobs, self.presence)

    @property
    def indexes_itself(self) -> bool:
        """Return True when items go into the index in the transaction that writes them.

        A search cluster cannot take part in a transaction, and the pipeline is notified by the indexer.
        """
        return not self.settings.search and not self.settings.pipeline_url

    @property
    def embedded(self) -> bool:
        """Return True when the database is an SQLite file."""
        return self.settings.database.startswith("sqlite")

    @property
    def indexer(self) -> Indexer:
        """Return the chore that brings the index up to date."""
        return Indexer(self.records.items, self.search, self.settings.index_batch)


@asynccontextmanager
async def open_platform(
    settings: Settings,
    trusted: frozenset[str] = frozenset(),
    *,
    folder_flag: str = "--data",
    reading: bool = False,
    check: Callable[[LoadedParsers], None] = lambda _: None,
) -> AsyncIterator[Platform]:
    """Open every engine; opened engines are closed again, also when a later one fails.

    `trusted` are host names that the operator typed: these may be internal. `folder_flag` is the flag of the command
    that names the data folder. With `reading`, a database that this user may not write is opened for reading. `check`
    raises `BadInput` for orders that the loaded parsers do not allow.
    """
    # First: parsers that cannot be loaded, and orders that cannot be carried out, leave no folder behind.
    parsers = _checked_parsers(settings, check)
    writable = not (reading and is_write_protected(settings.database))
    if writable:
        prepare_folder(settings.data, folder_flag)
    clock, metrics = SystemClock(), MetricCounters()
    async with AsyncExitStack() as stack:
        records = await open_records(
            settings.database, clock, read_only=not writable, observe=metrics.observe_transaction
        )
        stack.push_async_callback(records.schema.close)
        signals = open_signals(settings.database, settings.redis or None)
        stack.push_async_callback(signals.close)
        cache = open_cache(clock, settings.redis or None)
        stack.push_async_callback(cache.close)
        run_queue = _run_queue(settings, stack)
        search = open_index(settings, records)
        stack.push_async_callback(search.close)
        names = NameResolver()
        http = _http(settings, trusted, names)
        stack.push_async_callback(http.close)
        parser = page_parser(settings, parsers, stack, metrics)
        source_manager = _source_manager(settings, clock)
        if source_manager is not None:
            stack.push_async_callback(source_manager.close)
        yield Platform(
            settings=settings,
            clock=clock,
            records=records,
            blobs=open_blobs(settings.objects),
            signals=signals,
            http=http,
            presence=FileProcessLock(settings.data / PROCESS_LOCKS_FOLDER),
            politeness=PolitenessKey(cast(By, settings.politeness), names.resolve),
            vault=Vault(vault_key(settings) if writable else readable_vault_key(settings)),
            parsers=parsers,
            parser=parser,
            search=search,
            page_change_store=_page_change_store(settings, records, stack),
            cache=cache,
            run_queue=run_queue,
            source_manager=source_manager,
            metrics=metrics,
            writable=writable,
        )


def _checked_parsers(settings: Settings, check: Callable[[LoadedParsers], None]) -> LoadedParsers:
    """Return the loaded parsers; raise `BadInput` for missing recorded responses, or by `check`."""
    if settings.fixtures and settings.fixtures_mode == "replay" and not Path(settings.fixtures).is_dir():
        raise BadInput(f"--fixtures: there is no folder {settings.fixtures}; --fixtures-mode record makes one")
    parsers = load_parsers(settings)
    check(parsers)
    return parsers


def _run_queue(settings: Settings, stack: AsyncExitStack) -> RunQueue | None:
    """Return the queue of producers in Redis, closed with the stack; None without Redis."""
    if not settings.redis:
        return None
    queue: RunQueue = load_driver("longline.drivers.redis_run_queue").RedisRunQueue(settings.redis)
    stack.push_async_callback(queue.close)
    return queue


def _page_change_store(settings: Settings, records: Records, stack: AsyncExitStack) -> PageChangeStore:
    """Return the store of the history of page changes, closed with the stack."""
    if settings.rhythms == "redis" and settings.redis:
        in_redis = load_driver("longline.drivers.schedules.redis_page_changes").RedisPageChanges(settings.redis)
        stack.push_async_callback(in_redis.close)
        store: PageChangeStore = in_redis
        return store
    return records.page_changes if settings.rhythms == "database" else NoPageChanges()


def _source_manager(settings: Settings, clock: Clock) -> SourceManager | None:
    """Return the client of the source manager; every request has a token of its own, so that no token expires."""
    if not settings.sources_url:
        return None
    tokens = Tokens(jwt_secret(settings), clock.wall)
    issue = partial(tokens.issue, "service", "crawler-service", SERVICE_TOKEN_SECONDS)
    return HttpSourceManager(settings.sources_url, issue, _roots(settings))


def load_parsers(settings: Settings) -> LoadedParsers:
    """Load the built-in parsers and the operator's own; raise `BadInput`, with file and line, for a broken file."""
    return LoadedParsers(ParserSources(BUILT_IN, settings.parsers))


def parser_choice(settings: Settings) -> dict[str, Any]:
    """Return the settings' choice of a parser and its config, as a plan keeps them; empty for the closest match."""
    chosen: dict[str, Any] = {PARSER_KEY: settings.parser} if settings.parser else {}
    return chosen | ({CONFIG_KEY: msgspec.json.decode(settings.parser_config)} if settings.parser_config else {})


def check_config_has_parser(config: Mapping[str, Any]) -> None:
    """Raise `BadInput` for the config of a parser on a command line that names no parser."""
    if config.get(CONFIG_KEY) and not config.get(PARSER_KEY):
        raise BadInput("--parser-config is the config of one parser; name the parser with --parser")


def page_parser(
    settings: Settings, parsers: LoadedParsers, stack: AsyncExitStack, metrics: MetricCounters | None = None
) -> PageParser:
    """Return the page parser; slow parsers run in processes, closed with the stack."""
    if not settings.parse_processes:
        return PageParser(parsers, max_links=settings.max_links, metrics=metrics)
    limits = Limits(settings.max_links, settings.parse_memory)
    aside = ProcessPool(parsers, settings.parse_processes, settings.parse_timeout, limits)
    stack.callback(aside.close)
    return PageParser(parsers, aside, settings.max_links, metrics)


def open_index(settings: Settings, records: Records) -> Search:
    """Return the index: a search cluster where one is configured, else the database."""
    if not settings.search:
        return records.search
    s = settings
    identity = (Path(s.search_cert), Path(s.search_cert_key)) if s.search_cert else None
    return open_search(s.search, s.search_key, NodeOptions(_roots(s), identity, verify=s.search_verify))


def _roots(settings: Settings) -> Path | None:
    return Path(settings.ca_file) if settings.ca_file else None


def _http(settings: Settings, trusted: frozenset[str], names: NameResolver) -> StreamingHttp:
    """Return the HTTP client behind the wall: a URL from outside never leads to an internal address.

    Fixtures replace the client in replay mode, without any connection, and save its responses in record mode.
    """
    fixtures = Fixtures(Path(settings.fixtures)) if settings.fixtures else None
    if fixtures and settings.fixtures_mode == "replay":
        return ReplayingHttp(fixtures)
    live = _live_http(settings, trusted, names)
    return RecordingHttp(live, fixtures) if fixtures else live


def _live_http(settings: Settings, trusted: frozenset[str], names: NameResolver) -> StreamingHttp:
    guarded, roots = (
        GuardedResolver(names.resolve, AddressPolicy.opening(settings.egress_allow), trusted),
        _roots(settings),
    )
    tls = TlsSettings(settings.tls_verify, settings.tls_min, settings.tls_max)
    plain = WreqHttp(guarded.resolve, names=names, roots=roots, tls=tls)
    return RenderingHttp(plain, settings.render_url, guarded.resolve, roots) if settings.render_url else plain


def trusting_http(settings: Settings, trusted: frozenset[str]) -> StreamingHttp:
    """Return a client of its own for hosts that the operator named, which may be internal; pages cannot use it."""
    return _live_http(msgspec.structs.replace(settings, render_url=""), trusted, NameResolver())


@asynccontextmanager
async def registered_worker(platform: Platform, roles: frozenset[str]) -> AsyncIterator[int]:
    """Register this process as a worker; yield the id under which the process owns leases."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    mark = platform.presence.enter()
    try:
        places = msgspec.json.encode([absolute_place(place) for place in platform.settings.parsers]).decode()
        stages = {"download"} if "fetch" in roles and platform.settings.download_concurrency else set()
        worker = await platform.records.workers.join(name, ",".join(sorted(roles | stages)), mark, places)
    except BaseException:
        platform.presence.release()
        raise
    stop = asyncio.Event()
    beating = asyncio.create_task(
        chore(lambda: platform.records.workers.beat(worker), HEARTBEAT_INTERVAL_SECONDS)(stop)
    )
    try:
        yield worker.id
    finally:
        stop.set()
        await asyncio.gather(beating, return_exceptions=True)
        # When this fails the unlocked mark stays behind: the next process finds this worker dead and cleans up.
        await platform.reaper.remove_worker(worker.id)
        platform.presence.release()


async def migrate_tables(platform: Platform, *, may_migrate: bool) -> None:
    """Migrate the tables, or raise `Unavailable` with the command to run; then register the proxies of the settings."""
    if platform.writable and (may_migrate or platform.embedded):
        await platform.records.schema.migrate()
    elif behind := await platform.records.schema.pending():
        raise Unavailable(f"the database is {len(behind)} migrations behind; run: longline migrate")
    if platform.settings.proxies and platform.writable:
        await platform.proxies.ensure(platform.settings.proxies)
