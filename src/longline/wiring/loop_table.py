"""The loops of a process, as one table: docs/reference/loops.md is made from it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property

from longline.engine.fetch.fetcher import ResponseObserver
from longline.engine.frontier.held_hosts import MAX_PAUSE_SECONDS
from longline.engine.frontier.standing_counts import StandingCountLog
from longline.engine.frontier.standing_waker import StandingWaker
from longline.engine.frontier.withdrawn_tasks import WITHDRAWAL_INTERVAL_SECONDS, WithdrawnTaskFilter
from longline.engine.logs.redis_copy import RedisLogCopy
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.loops import Loop, chore
from longline.engine.proxies.prober import Prober
from longline.engine.recrawls.recrawler import Recrawler
from longline.engine.search.indexer import Indexer
from longline.engine.worker.reporter import ReportParts
from longline.engine.worker.worker import Worker
from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.services.sources.source_robots import ROBOTS_TOPIC
from longline.wiring.child_worker import child_workers
from longline.wiring.doors.bots import bot_task_upkeep
from longline.wiring.doors.catalogue import source_cache_cleaner
from longline.wiring.doors.intervals import source_events_loop
from longline.wiring.doors.products import alerts, webhook_sender
from longline.wiring.parts.discovery import candidate_probe
from longline.wiring.parts.feeds import (
    LOOK_INTERVAL_SECONDS,
    feed_loop,
    feed_search_loop,
    remote_source_loop,
    sitemap_loop,
)
from longline.wiring.parts.logs import Streams, log_month_keeper, run_log_keeper
from longline.wiring.parts.manifest_streams import direct_task_loop, stream_mirror_loop
from longline.wiring.parts.manifests import manifest_chore
from longline.wiring.parts.recrawls import found_urls, recrawl_page_retention
from longline.wiring.parts.runs import (
    automatic_series_runs,
    due_run_starter,
    maintenance_runner,
    retention,
    run_effect_worker,
)
from longline.wiring.parts.schedules import scheduler_loop
from longline.wiring.parts.sinks import sink_loop
from longline.wiring.parts.sources import plan_cache
from longline.wiring.platform import WANT_TOPIC, WORK_TOPIC, Platform
from longline.wiring.signals import listener, text_listener
from longline.wiring.worker import fetch_worker, link_contributors, parse_worker, report_observers

API, FETCH, PARSE, UPKEEP = "api", "fetch", "parse", "upkeep"

Once = Callable[[], Awaitable[object]]


@dataclass
class LoopParts:
    """The parts of the platform from which the loops of a process are made."""

    platform: Platform
    roles: frozenset[str]
    owner: int = 0
    run_log: RunLogWriter | None = None
    log_copy: RedisLogCopy | None = None
    response_observer: ResponseObserver | None = None
    counting_indexer: Indexer | None = None
    monitor: LoopMonitor | None = None
    streams: Streams | None = None

    @cached_property
    def worker(self) -> Worker:
        """Return the worker of this process."""
        return fetch_worker(
            self.platform,
            self.owner,
            plans=plan_cache(self.platform),
            parse=PARSE in self.roles,
            response_observer=self.response_observer,
            report=ReportParts(report_observers(self.platform, self.run_log), link_contributors(self.platform)),
        )

    @property
    def indexer(self) -> Indexer:
        """Return the indexer that counts and notifies, or the plain one."""
        return self.counting_indexer or self.platform.indexer

    @property
    def prober(self) -> Prober:
        """Return the prober of proxies."""
        platform = self.platform
        return Prober(platform.stored_proxies, platform.http, platform.clock, platform.settings.probe_url)

    @property
    def served(self) -> Streams:
        """Return the streams of this process, which serves HTTP."""
        assert self.streams is not None
        return self.streams

    async def bound_pauses(self) -> int:
        """Shorten pauses of hosts that are longer than any worker sets."""
        return await self.platform.records.frontier.bound_pauses(round(MAX_PAUSE_SECONDS * 1000))


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop: it runs in a process that has all `roles` while every one of `settings` is on.

    `interval` is in seconds, or the setting that has it, or None for a loop that waits for its work by itself.
    """

    name: str
    purpose: str
    roles: tuple[str, ...]
    interval: float | str | None
    make: Callable[[LoopParts], Loop] | None = None
    once: Callable[[LoopParts], Once] | None = None
    settings: tuple[str, ...] = ()

    def build(self, parts: LoopParts) -> Loop:
        """Return the loop."""
        if self.once is not None and self.interval is not None:
            every = self.interval
            return chore(self.once(parts), getattr(parts.platform.settings, every) if isinstance(every, str) else every)
        assert self.make is not None
        return self.make(parts)


def _monitor(parts: LoopParts) -> Loop:
    assert parts.monitor is not None
    return parts.monitor.run


LOOPS = (
    LoopRow(
        "fetch",
        "Claim hosts, and take their tasks through fetch, parse, keep and report.",
        (FETCH,),
        None,
        make=lambda p: p.worker.run,
    ),
    LoopRow(
        "work signals",
        "Claim at once when another process has admitted URLs.",
        (FETCH,),
        None,
        make=lambda p: listener(p.platform, WORK_TOPIC, p.worker.wake),
    ),
    LoopRow(
        "work requests",
        "Release hosts when an idle worker asks for work.",
        (FETCH,),
        None,
        make=lambda p: listener(p.platform, WANT_TOPIC, p.worker.share),
    ),
    LoopRow(
        "robots signals",
        "Forget the rules of a site that were fetched anew on a person's order.",
        (FETCH,),
        None,
        make=lambda p: text_listener(p.platform, ROBOTS_TOPIC, p.platform.robots.forget),
    ),
    LoopRow(
        "withdrawn tasks",
        "Drop tasks that were paused, cancelled or restarted, or whose run has stopped, from the hosts in hand.",
        (FETCH,),
        WITHDRAWAL_INTERVAL_SECONDS,
        once=lambda p: (
            WithdrawnTaskFilter(p.worker.hand, p.platform.lifecycle.tasks, p.owner, p.platform.records.holds).once
        ),
    ),
    LoopRow(
        "worker processes",
        "Run the other worker processes, and start one that died again.",
        (FETCH,),
        None,
        make=lambda p: child_workers(p.platform.settings, p.roles),
    ),
    LoopRow(
        "parse",
        "Parse pages from the archive.",
        (PARSE,),
        None,
        make=lambda p: parse_worker(p.platform, p.owner, p.run_log).run,
    ),
    LoopRow(
        "reaper",
        "Take back lapsed leases, and the leases and segments of dead processes.",
        (UPKEEP,),
        "reap",
        once=lambda p: p.platform.reaper.once,
    ),
    LoopRow(
        "host pauses",
        "Shorten pauses of hosts that are longer than any worker sets.",
        (UPKEEP,),
        3600.0,
        once=lambda p: p.bound_pauses,
    ),
    LoopRow(
        "proxy probes",
        "Send one request through each failed proxy that is due for a trial.",
        (UPKEEP,),
        60.0,
        once=lambda p: p.prober.once,
    ),
    LoopRow("index", "Bring new items to the search index.", (UPKEEP,), "index_every", once=lambda p: p.indexer.once),
    LoopRow(
        "session upkeep",
        "Delete the logins of runs that have ended.",
        (UPKEEP,),
        60.0,
        once=lambda p: p.platform.records.sessions.drop_ended,
    ),
    LoopRow(
        "sinks",
        "Send new items to the sinks.",
        (UPKEEP,),
        None,
        make=lambda p: sink_loop(p.platform, p.owner),
        settings=("sinks",),
    ),
    LoopRow("index upkeep", "Tidy the search index.", (UPKEEP,), 600.0, once=lambda p: p.platform.indexer.maintain),
    LoopRow(
        "bot tasks",
        "Make tasks for the schedules of bots that are due.",
        (UPKEEP,),
        5.0,
        once=lambda p: bot_task_upkeep(p.platform).plan,
    ),
    LoopRow(
        "bot leases",
        "Take back the tasks that bots let lapse.",
        (UPKEEP,),
        60.0,
        once=lambda p: bot_task_upkeep(p.platform).sweep,
    ),
    LoopRow(
        "scheduler",
        "Start due schedules, follow their runs and renew their leases.",
        (UPKEEP,),
        "poll",
        make=lambda p: scheduler_loop(p.platform, p.owner, p.run_log),
        settings=("scheduler",),
    ),
    LoopRow(
        "due runs",
        "Start queued runs that are due.",
        (UPKEEP,),
        1.0,
        once=lambda p: due_run_starter(p.platform, p.run_log).once,
    ),
    LoopRow(
        "automatic series runs",
        "Queue runs of catalogues and their series that are due by the intervals of their sources.",
        (UPKEEP,),
        10.0,
        once=lambda p: automatic_series_runs(p.platform).once,
        settings=("scheduler",),
    ),
    LoopRow(
        "maintenance",
        "Queue maintenance tasks by their cron expressions, and carry out queued ones.",
        (UPKEEP,),
        1.0,
        once=lambda p: maintenance_runner(p.platform).once,
    ),
    LoopRow(
        "recrawls",
        "Make the next generations of recrawls, wake those that waited for others, and end holds.",
        (UPKEEP,),
        1.0,
        once=lambda p: Recrawler(p.platform.records, p.platform.lifecycle.tasks, p.platform.call_workers).once,
    ),
    LoopRow(
        "found URLs",
        "Submit children that pages of recrawls named, and have images of products stored.",
        (UPKEEP,),
        1.0,
        once=lambda p: found_urls(p.platform).once,
    ),
    LoopRow(
        "run effects",
        "Carry out the effects of run ends, each once.",
        (UPKEEP,),
        1.0,
        once=lambda p: run_effect_worker(p.platform).once,
    ),
    LoopRow(
        "retention",
        "Delete runs, tasks of standing runs, events and segments that are too old, and old decisions on links.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: retention(p.platform).once,
    ),
    LoopRow(
        "pages of recrawls",
        "Delete archived pages of recrawls that are too old.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: recrawl_page_retention(p.platform).once,
        settings=("retention_recrawls",),
    ),
    LoopRow(
        "manifest pruning",
        "Delete ended manifests, dead letters and idempotency keys that are too old.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: manifest_chore(p.platform),
    ),
    LoopRow(
        "manifest streams",
        "Copy what happens to manifests to streams in Redis.",
        (UPKEEP,),
        None,
        make=lambda p: stream_mirror_loop(p.platform),
        settings=("redis",),
    ),
    LoopRow(
        "direct tasks",
        "Take the tasks of direct producers from their stream in Redis.",
        (UPKEEP,),
        None,
        make=lambda p: direct_task_loop(p.platform),
        settings=("redis",),
    ),
    LoopRow(
        "feeds",
        "Poll feeds that are due, and admit their entries.",
        (UPKEEP,),
        "feed_poll",
        make=lambda p: feed_loop(p.platform),
        settings=("feeds",),
    ),
    LoopRow(
        "feed search",
        "Search the feeds of sources that name none.",
        (UPKEEP,),
        "feed_search",
        make=lambda p: feed_search_loop(p.platform),
        settings=("feed_discovery",),
    ),
    LoopRow(
        "sitemaps",
        "Read sitemaps that are due, and admit their URLs.",
        (UPKEEP,),
        LOOK_INTERVAL_SECONDS,
        make=lambda p: sitemap_loop(p.platform),
        settings=("sitemaps",),
    ),
    LoopRow(
        "remote sources",
        "Fetch the source list of another service, and report the status of feeds to it.",
        (UPKEEP,),
        "sources_every",
        make=lambda p: remote_source_loop(p.platform),
        settings=("sources_url",),
    ),
    LoopRow(
        "source events",
        "Update schedules after the source events of another service.",
        (UPKEEP,),
        None,
        make=lambda p: source_events_loop(p.platform),
        settings=("source_events", "redis"),
    ),
    LoopRow(
        "candidate probes",
        "Fetch the pages of candidates, and read their feeds.",
        (UPKEEP,),
        LOOK_INTERVAL_SECONDS,
        once=lambda p: candidate_probe(p.platform).once,
        settings=("discovery",),
    ),
    LoopRow(
        "standing counts",
        "Log how many URLs of the standing frontier wait, are held, are done and were given up.",
        (UPKEEP,),
        60.0,
        once=lambda p: StandingCountLog(p.platform.records.standing).once,
    ),
    LoopRow(
        "standing waker",
        "Make URLs due that were admitted while the standing frontier was off.",
        (UPKEEP,),
        3600.0,
        once=lambda p: StandingWaker(p.platform.records.standing).once,
        settings=("frontier",),
    ),
    LoopRow(
        "run logs",
        "Add heartbeats to run logs, close the logs of ended runs, archive them and delete old ones.",
        (UPKEEP,),
        1.0,
        once=lambda p: run_log_keeper(p.platform, p.log_copy).once,
    ),
    LoopRow(
        "log months",
        "Make months for the logs of catalogues ahead, and archive and delete months that ended six months ago.",
        (UPKEEP,),
        3600.0,
        once=lambda p: log_month_keeper(p.platform).once,
    ),
    LoopRow(
        "webhooks",
        "Send signed messages about recrawls that have ended.",
        (UPKEEP,),
        1.0,
        once=lambda p: webhook_sender(p.platform).once,
    ),
    LoopRow(
        "old webhooks",
        "Delete webhooks that ended 30 days ago.",
        (UPKEEP,),
        3600.0,
        once=lambda p: webhook_sender(p.platform).prune,
    ),
    LoopRow(
        "alerts",
        "Look for alerts about proxies and the queue, and log those that begin and end.",
        (UPKEEP,),
        30.0,
        once=lambda p: alerts(p.platform).once,
    ),
    LoopRow(
        "throughput",
        "Sum up the throughput of the newest hours, and delete old minutes and hours.",
        (UPKEEP,),
        300.0,
        once=lambda p: p.platform.records.throughput.upkeep,
    ),
    LoopRow(
        "source cache",
        "Remove what changed sources have in the cache in Redis.",
        (API,),
        0.25,
        once=lambda p: source_cache_cleaner(p.platform).once,
        settings=("redis",),
    ),
    LoopRow("event loop lag", "Measure how late the event loop runs.", (API,), None, make=_monitor),
    LoopRow(
        "log followers",
        "Send new entries of run logs to the clients that follow them.",
        (API,),
        None,
        make=lambda p: p.served.followers.run,
    ),
    LoopRow(
        "move events",
        "Publish moves of schedules and runs to the clients of the event stream.",
        (API,),
        0.5,
        once=lambda p: p.served.moves.once,
    ),
    LoopRow(
        "health events",
        "Publish the health of the engines to the clients of the health stream.",
        (API,),
        5.0,
        once=lambda p: p.served.health.once,
    ),
    LoopRow(
        "count events",
        "Publish the numbers of tasks and runs to the clients of the metrics stream.",
        (API,),
        30.0,
        once=lambda p: p.served.counts.once,
    ),
)
"""Every loop of a process; the heartbeat of a worker and the writers of logs and counts run inside their parts."""


def build_loops(parts: LoopParts) -> dict[str, Loop]:
    """Return the loops that the roles of a process and its settings ask for."""
    return {row.name: row.build(parts) for row in LOOPS if runs(row, parts)}


def runs(row: LoopRow, parts: LoopParts) -> bool:
    """Return whether a loop runs in a process."""
    enabled = all(getattr(parts.platform.settings, name) for name in row.settings)
    return enabled and set(row.roles) <= parts.roles
