"""Log entries about runs from anywhere in a process, gathered and written in bulk.

Log records with `extra={"run_id": …}` are gathered, and the engine adds entries about each page. A log never makes a
crawl fail or wait: entries that do not fit are counted and dropped.
"""

import logging
import threading
from collections import Counter
from typing import Any

from longline.engine.logs.redis_copy import RedisLogCopy
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import Unavailable
from longline.model.logs.run_log import MAX_MESSAGE_CHARS, LogFilter, NewLogEntry, fields_text, start_entry
from longline.model.signal_topics import LOGS_TOPIC
from longline.model.storable_text import storable
from longline.ports.clock import Clock
from longline.ports.records.logs import LogStore
from longline.ports.signals import Signals

log = logging.getLogger(__name__)

BATCH_SIZE = 5000
MAX_WAITING = 50_000
NAMES_PER_SIGNAL = 40
STANDARD_FIELDS = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {
    "message",
    "asctime",
    "run_id",
    "topic",
}

WRITE_INTERVAL_SECONDS = 0.25
"""Seconds between two writes of gathered log entries."""

CLOSE_TIMEOUT_SECONDS = 5.0


class RunLogSettings(LogFilter, frozen=True):
    """A filter of log entries, and the largest number of debug entries a second of each run; 0 is unlimited."""

    rate: int = 0


class LineBudget:
    """A token bucket: `rate` entries a second, and a second's worth at once."""

    def __init__(self, rate: int, now: float) -> None:
        self._rate, self._tokens, self._at = rate, float(rate), now

    def take(self, now: float) -> bool:
        """Return True when one more entry may pass."""
        self._tokens = min(self._rate, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class RunLogWriter(logging.Handler):
    """A logging handler that gathers entries in memory, within bounds, until they are written."""

    def __init__(
        self,
        logs: LogStore,
        signals: Signals,
        clock: Clock,
        settings: RunLogSettings,
        mirror: RedisLogCopy | None = None,
    ) -> None:
        super().__init__()
        self._logs, self._clock, self._settings, self._mirror = logs, clock, settings, mirror
        self._announcer = LogSignals(signals)
        self._own = threading.Lock()
        self._opening: dict[int, list[NewLogEntry]] = {}
        self._waiting: list[NewLogEntry] = []
        self._lost: Counter[int] = Counter()
        self._buckets: BoundedDict[int, LineBudget] = BoundedDict(MAX_WAITING)
        self._known: BoundedDict[int, None] = BoundedDict(MAX_WAITING)

    def emit(self, record: logging.LogRecord) -> None:
        """Gather a log record that names its run."""
        run_id = getattr(record, "run_id", None)
        if not isinstance(run_id, int):
            return
        fields = {name: value for name, value in vars(record).items() if name not in STANDARD_FIELDS}
        if record.exc_info:
            fields["stack"] = logging.Formatter().formatException(record.exc_info)
        self.say(
            run_id, _level(record.levelno), str(getattr(record, "topic", "lifecycle")), record.getMessage(), fields
        )

    def wants(self, level: str, topic: str) -> bool:
        """Return True when an entry of this level and topic would be written."""
        return self._settings.takes(level, topic)

    def say(
        self,
        run_id: int,
        level: str,
        topic: str,
        message: str,
        fields: dict[str, Any] | None = None,
        *,
        always: bool = False,
    ) -> None:
        """Add an entry to the log of a run, at the current time; with `always`, whatever the filter is."""
        if not (always or self.wants(level, topic)):
            return
        entry = NewLogEntry(run_id, self._clock.now(), level, topic, _cut(message), fields_text(fields))
        with self._own:
            if len(self._waiting) >= MAX_WAITING or (level == "debug" and not self._passes(run_id)):
                self._lost[run_id] += 1
            else:
                self._waiting.append(entry)

    def begin(self, run_id: int, *, always: bool = False) -> None:
        """Begin the log of a run that is worked on here, unless the log was begun before."""
        if run_id in self._known:
            return
        self._known[run_id] = None
        first = start_entry(run_id, self._clock.now())
        with self._own:
            self._opening[run_id] = [first] if always or self.wants(first.level, first.topic) else []

    async def begin_now(self, run_id: int) -> None:
        """Begin the log of a run that has just started, before any other entry, whatever the filter is."""
        self._known[run_id] = None
        first = start_entry(run_id, self._clock.now())
        try:
            await self._logs.open(run_id, [first])
        except Unavailable as error:
            log.warning("run log not begun", extra={"error": str(error)})
            with self._own:
                self._opening[run_id] = [first]

    def _passes(self, run_id: int) -> bool:
        rate, now = self._settings.rate, self._clock.monotonic()
        if rate <= 0:
            return True
        return self._buckets.setdefault(run_id, LineBudget(rate, now)).take(now)

    async def write(self) -> None:
        """Write the gathered entries; while the database is unavailable, entries wait in memory, within bounds."""
        with self._own:
            opening, self._opening = self._opening, {}
            waiting, self._waiting = self._waiting, []
            lost, self._lost = self._lost, Counter()
        changed: set[int] = set()
        try:
            for run_id in list(opening):
                if await self._logs.open(run_id, opening[run_id]):
                    changed.add(run_id)
                    log.info("run started", extra={"run": run_id})
                del opening[run_id]
            while waiting or lost:
                changed |= await self._logs.append(waiting[:BATCH_SIZE], lost)
                waiting, lost = waiting[BATCH_SIZE:], Counter()
        except Unavailable as error:
            log.warning("run log entries not written", extra={"error": str(error)})
            self._take_back(opening, waiting, lost)
        await self._announcer.send(changed)
        if self._mirror is not None:
            await self._mirror.copy(changed)

    def _take_back(self, opening: dict[int, list[NewLogEntry]], waiting: list[NewLogEntry], lost: Counter[int]) -> None:
        with self._own:
            self._opening = opening | self._opening
            self._waiting = waiting + self._waiting
            self._lost.update(lost)


class LogSignals:
    """A sender of signals that name runs with new entries; readers also poll, in case a signal is lost."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._in_vain = False

    async def send(self, runs: set[int]) -> None:
        """Send a signal with the names of the runs; repeated failures are logged once, not with every entry."""
        names = [str(run_id) for run_id in sorted(runs)]
        for start in range(0, len(names), NAMES_PER_SIGNAL):
            try:
                await self._signals.send(LOGS_TOPIC, ",".join(names[start : start + NAMES_PER_SIGNAL]))
                self._in_vain = False
            except Unavailable as error:
                if not self._in_vain:
                    log.warning("log readers not notified", extra={"error": str(error)})
                self._in_vain = True
                return


def _level(number: int) -> str:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"


def _cut(text: str) -> str:
    return storable(text[:MAX_MESSAGE_CHARS])
