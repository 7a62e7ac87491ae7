"""A row of the table of loops, and the parts of the platform from which loops are made."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from longline.engine.fetch.fetcher import ResponseObserver
from longline.engine.logs.redis_copy import RedisLogCopy
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.loop_supervisor import Loop, chore
from longline.engine.proxies.prober import Prober
from longline.engine.search.indexer import Indexer
from longline.engine.worker.reporter import ReportParts
from longline.engine.worker.worker import Worker
from longline.model.frontier.host import MAX_PAUSE_SECONDS
from longline.model.frontier.worker import PARSE
from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.services.metrics.otlp_export import OtlpExport
from longline.settings import Settings
from longline.wiring.doors.streams import Streams
from longline.wiring.platform import Platform
from longline.wiring.subjects.sources import plan_cache
from longline.wiring.worker import fetch_worker, link_contributors, report_observers

API = "api"

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
    otlp_export: OtlpExport | None = None

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

    `interval` is in seconds, or the setting that has it, or None for a loop that waits for its work by itself. A
    setting of a table has the name of its table before it, as in `telemetry.otlp_endpoint`.
    """

    name: str
    purpose: str
    roles: tuple[str, ...]
    interval: float | str | None
    make: Callable[[LoopParts], Loop] | None = None
    once: Callable[[LoopParts], Once] | None = None
    settings: tuple[str, ...] = ()

    def is_enabled(self, settings: Settings) -> bool:
        """Return whether every setting of the loop is on."""
        return all(attrgetter(name)(settings.tables if "." in name else settings) for name in self.settings)

    def build(self, parts: LoopParts) -> Loop:
        """Return the loop."""
        if self.once is not None and self.interval is not None:
            every = self.interval
            return chore(self.once(parts), getattr(parts.platform.settings, every) if isinstance(every, str) else every)
        assert self.make is not None
        return self.make(parts)
