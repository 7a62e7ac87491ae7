"""Records on SQLite or PostgreSQL, chosen by URL."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

from longline.drivers.extras import load_driver
from longline.drivers.records.archive.pages import PageRecords
from longline.drivers.records.archive.segments import SegmentRecords
from longline.drivers.records.bots.bots import BotOverviewRecords, BotRecords
from longline.drivers.records.bots.policies import BotPolicyRecords
from longline.drivers.records.bots.tasks import BotTaskRecords
from longline.drivers.records.callers.api_keys import ApiKeyRecords
from longline.drivers.records.callers.audit import AuditRecords
from longline.drivers.records.callers.door_settings import DoorSettingRecords
from longline.drivers.records.callers.live_console_sessions import ConsoleSessionRecords
from longline.drivers.records.callers.rate_limits import RateLimitRecords
from longline.drivers.records.database import Database
from longline.drivers.records.discovery.candidates import CandidateRecords
from longline.drivers.records.discovery.links import LinkRecords
from longline.drivers.records.downloads.admission import DownloadAdmissionRecords
from longline.drivers.records.downloads.dead_letters import DeadLetterRecords
from longline.drivers.records.downloads.downloads import DownloadRecords
from longline.drivers.records.feeds.feeds import FeedRecords
from longline.drivers.records.feeds.sitemaps import SitemapRecords
from longline.drivers.records.frontier.claims import FrontierRecords
from longline.drivers.records.frontier.due_runs import DueRunRecords
from longline.drivers.records.frontier.lifecycle_moves import MoveRecords
from longline.drivers.records.frontier.refused_urls import RefusedUrlRecords
from longline.drivers.records.frontier.standing_frontier import StandingFrontierRecords
from longline.drivers.records.frontier.task_leases import TaskLeaseRecords
from longline.drivers.records.frontier.task_moves import TaskMoveRecords
from longline.drivers.records.frontier.tasks import HostListRecords, TaskListRecords, TaskRecords
from longline.drivers.records.login_sessions import SessionRecords
from longline.drivers.records.logs.events import EventRecords
from longline.drivers.records.logs.log_pages import LogPageRecords
from longline.drivers.records.logs.logs import LogRecords
from longline.drivers.records.maintenance import MaintenanceRecords
from longline.drivers.records.manifests.stores import manifest_stores
from longline.drivers.records.metrics.alerts import AlertRecords
from longline.drivers.records.metrics.counters import CounterRecords
from longline.drivers.records.metrics.queue_figures import MetricRecords, TimedDatabase, TransactionObserver
from longline.drivers.records.metrics.throughput import ThroughputRecords
from longline.drivers.records.migration_runner import SchemaRecords
from longline.drivers.records.proxies.proxies import PoolRecords, ProxyFigureRecords, ProxyRecords
from longline.drivers.records.recrawls.batches import BatchRecords
from longline.drivers.records.recrawls.found_urls import FoundUrlRecords
from longline.drivers.records.recrawls.holds import HoldRecords
from longline.drivers.records.recrawls.old_pages import RecrawlPageRecords
from longline.drivers.records.recrawls.recrawls import GenerationRecords, RecrawlRecords
from longline.drivers.records.recrawls.webhooks import WebhookRecords
from longline.drivers.records.runs.end_effects import RunEffectRecords
from longline.drivers.records.runs.retention import RetentionRecords
from longline.drivers.records.runs.run_views import RunViewRecords
from longline.drivers.records.runs.runs import RunRecords
from longline.drivers.records.schedules.page_changes import PageChangeRecords
from longline.drivers.records.schedules.run_history import RunHistoryRecords
from longline.drivers.records.schedules.schedules import ScheduleRecords
from longline.drivers.records.schedules.slots import SlotRecords
from longline.drivers.records.schedules.ticks import TickRecords
from longline.drivers.records.search.index import RecordsSearch
from longline.drivers.records.search.item_changes import ItemChangeRecords
from longline.drivers.records.search.items import ItemRecords
from longline.drivers.records.series import series_stores
from longline.drivers.records.sinks.sink_progress import SinkProgressRecords
from longline.drivers.records.sinks.sink_runs import SinkRunRecords
from longline.drivers.records.sinks.sinks import SinkRecords
from longline.drivers.records.sources.failing_sources import FailingSourceRecords
from longline.drivers.records.sources.handled_messages import HandledMessageRecords
from longline.drivers.records.sources.remote_sources import RemoteSourceRecords
from longline.drivers.records.sources.source_names import SourceNameRecords
from longline.drivers.records.sources.sources import SourceRecords
from longline.drivers.records.sqlite import SqliteDatabase
from longline.drivers.records.workers import WorkerRecords
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.ports.clock import Clock
from longline.ports.records import Records


def is_write_protected(url: str) -> bool:
    """Return whether the URL names a database file that exists and that this user may not write."""
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path.is_file():
        return False
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


async def open_database(url: str, clock: Clock, *, read_only: bool = False) -> Database:
    """Open the database at a URL: `sqlite:///path` or `postgresql://…`; `read_only` creates no file or folder."""
    if url.startswith(("postgresql://", "postgres://")):
        database: Database = await load_driver("longline.drivers.records.postgres").connect(url, clock)
        return database
    if not url.startswith("sqlite:///"):
        raise BadInput(f"unknown kind of database: {url.split(':', 1)[0]}; use sqlite:///path or postgresql://…")
    path = Path(url.removeprefix("sqlite:///"))
    (_check_file if read_only else _make_folder)(path)
    opened = partial(SqliteDatabase, path, clock, read_only=read_only)
    return await asyncio.get_running_loop().run_in_executor(None, opened)


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise NotFound("database", text=f"there is no crawl in {path.parent}; name the folder of one with --data")


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot make the folder {path.parent}: {error.strerror}") from error


async def open_records(
    url: str, clock: Clock, *, read_only: bool = False, observe: TransactionObserver | None = None
) -> Records:
    """Open the records in the database at a URL; `observe` is called after each transaction."""
    database = await open_database(url, clock, read_only=read_only)
    return _records(database if observe is None else TimedDatabase(database, observe))


def _records(database: Database) -> Records:
    """Return all stores of a database."""
    return Records(
        schema=SchemaRecords(database),
        **_source_records(database),
        schedules=ScheduleRecords(database),
        slots=SlotRecords(database),
        **_run_records(database),
        retention=RetentionRecords(database),
        page_changes=PageChangeRecords(database),
        counters=CounterRecords(database),
        throughput=ThroughputRecords(database),
        tasks=TaskRecords(database),
        refused_urls=RefusedUrlRecords(database),
        catalogues=series_stores(database),
        sessions=SessionRecords(database),
        sinks=SinkRecords(database),
        sink_runs=SinkRunRecords(database),
        sink_progress=SinkProgressRecords(database),
        segments=SegmentRecords(database),
        workers=WorkerRecords(database),
        figures=MetricRecords(database),
        events=EventRecords(database),
        logs=LogRecords(database),
        log_pages=LogPageRecords(database),
        handled_messages=HandledMessageRecords(database),
        links=LinkRecords(database),
        candidates=CandidateRecords(database),
        **_standing_records(database),
        proxies=ProxyRecords(database),
        proxy_figures=ProxyFigureRecords(database),
        alerts=AlertRecords(database),
        webhooks=WebhookRecords(database),
        pools=PoolRecords(database),
        **_caller_records(database),
        bots=BotRecords(database),
        bot_schedules=BotPolicyRecords(database),
        bot_look=BotOverviewRecords(database),
        bot_tasks=BotTaskRecords(database),
        feeds=FeedRecords(database),
        sitemaps=SitemapRecords(database),
        pages=PageRecords(database),
        items=ItemRecords(database),
        item_changes=ItemChangeRecords(database),
        search=RecordsSearch(database),
        downloads=DownloadRecords(database),
        download_runs=DownloadAdmissionRecords(database),
        dead_letters=DeadLetterRecords(database),
        manifests=manifest_stores(database),
        frontier=FrontierRecords(database),
        hands=TaskLeaseRecords(database),
        moves=MoveRecords(database),
        task_moves=TaskMoveRecords(database),
        ticks=TickRecords(database),
    )


def _run_records(database: Database) -> dict[str, Any]:
    """Return the records of runs, by their names."""
    return {
        "runs": RunRecords(database),
        "run_views": RunViewRecords(database),
        "history": RunHistoryRecords(database),
        "due_runs": DueRunRecords(database),
        "run_effects": RunEffectRecords(database),
        "maintenance": MaintenanceRecords(database),
    }


def _standing_records(database: Database) -> dict[str, Any]:
    """Return the records of the standing frontier, of recrawls and of lists for people, by their names."""
    return {
        "task_lists": TaskListRecords(database),
        "host_lists": HostListRecords(database),
        "standing": StandingFrontierRecords(database),
        "recrawls": RecrawlRecords(database),
        "generations": GenerationRecords(database),
        "found_urls": FoundUrlRecords(database),
        "recrawl_pages": RecrawlPageRecords(database),
        "holds": HoldRecords(database),
        "batches": BatchRecords(database),
    }


def _caller_records(database: Database) -> dict[str, Any]:
    """Return the records of callers, by their names."""
    return {
        "api_keys": ApiKeyRecords(database),
        "console_sessions": ConsoleSessionRecords(database),
        "rate_limits": RateLimitRecords(database),
        "audit": AuditRecords(database),
        "door_settings": DoorSettingRecords(database),
    }


def _source_records(database: Database) -> dict[str, Any]:
    """Return the records of sources, by their names."""
    return {
        "sources": SourceRecords(database),
        "source_names": SourceNameRecords(database),
        "failing_sources": FailingSourceRecords(database),
        "remote_sources": RemoteSourceRecords(database),
    }
