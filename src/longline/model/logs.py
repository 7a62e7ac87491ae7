"""Logs of runs: entries in one order, numbered from one without a gap."""

from typing import Any, NamedTuple

import msgspec

from longline.model.states import RUN_ENDED
from longline.model.timestamps import written

LEVELS = ("debug", "info", "warn", "error")
"""Levels from the least to the most severe."""

MAX_ENTRIES = 50_000
"""Largest number of entries kept for one run; further entries are counted and dropped."""


class LogFilter(msgspec.Struct, frozen=True):
    """The lowest level of entries to keep; with `quiet`, below `warn` only those of the topic lifecycle are kept."""

    level: str = "info"
    quiet: bool = False

    def takes(self, level: str, topic: str) -> bool:
        """Return whether an entry of this level and topic is kept."""
        if self.quiet and topic != "lifecycle" and level not in ("warn", "error"):
            return False
        return LEVELS.index(level) >= LEVELS.index(self.level)


class NewLogEntry(msgspec.Struct, frozen=True, gc=False):
    """A log entry to be written; `fields` is a JSON object as text."""

    run_id: int
    at: int
    level: str
    topic: str
    message: str
    fields: str | None = None


class LogEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored; `number` is its place in the log of its run."""

    run_id: int
    number: int
    at: int
    level: str
    topic: str
    message: str
    fields: str | None


class LoggedRun(msgspec.Struct, frozen=True):
    """A run with its log. `name` is the id of its schedule, or of the run when it has no schedule.

    `silent` is true when a heartbeat entry of the run is due.
    """

    run_id: int
    uid: str
    name: str
    number: int
    state: str
    started_at: int | None
    ended_at: int | None
    completed: int
    failed: int
    open: int
    error: str | None
    sealed: bool | None
    key: str | None
    bytes: int | None
    kept: int | None
    archived_at: int | None
    last: int | None
    dropped: int | None
    beat_at: int | None
    told: int | None
    items: int = 0
    silent: bool = False

    @property
    def ended(self) -> bool:
        """Return whether the run has ended; its log may still get late entries."""
        return self.state in RUN_ENDED


class LogPart(msgspec.Struct, frozen=True):
    """Some entries of a log, oldest first. An empty part of a sealed log is the end.

    `sealed` is None when there is no log.
    """

    entries: list[LogEntry]
    sealed: bool | None
    key: str | None
    name: str = ""
    uid: str = ""


class DueLog(msgspec.Struct, frozen=True):
    """The times at which a run's log is due: each `every_ms`, each `step` pages, and `grace_ms` after the run's end."""

    every_ms: int
    step: int
    grace_ms: int


class LogMark(NamedTuple):
    """The position of a reader in a schedule's logs: behind entry `number` of run `run_id`."""

    run_id: int
    number: int

    def __str__(self) -> str:
        return f"{self.run_id}-{self.number}"


START = LogMark(0, 0)


def mark_after_run(run_id: int) -> LogMark:
    """Return the position behind all entries of a run and before those of later runs."""
    return LogMark(run_id + 1, 0)


def parse_mark(text: str | None) -> LogMark | None:
    """Return the mark in a text; None for any other text."""
    run_id, _, number = (text or "").strip().partition("-")
    fits = all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (run_id, number))
    return LogMark(int(run_id), int(number)) if fits else None


def log_line(entry: LogEntry, name: str, uid: str) -> dict[str, Any]:
    """Return an entry in the form of the interval contract, for readers and archives."""
    line = {
        "schema_version": 1,
        # The contract writes nanoseconds; the time is known in milliseconds.
        "timestamp": f"{written(entry.at)[:-1]}000000Z",
        "level": entry.level,
        "category": f"crawler.{entry.topic}",
        "message": entry.message,
        "job_id": name,
        "execution_id": uid,
    }
    return line | {"fields": msgspec.json.decode(entry.fields)} if entry.fields else line


def archive_key(name: str, number: int) -> str:
    """Return the object-store key of a run's log."""
    return f"logs/{name}/{number}.log.gz"
