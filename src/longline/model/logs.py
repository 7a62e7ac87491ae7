"""What a run said: entries in one order, numbered from one without a gap."""

from typing import Any, NamedTuple

import msgspec

from longline.model.timestamps import written

LEVELS = ("debug", "info", "warn", "error")
"""From the least to the most severe."""

TOPICS = ("lifecycle", "fetch", "extract", "error", "rate_limit", "queue", "metrics")
"""What an entry may be about."""

MOST_ENTRIES = 50_000
"""Entries of one run that are kept; what it says beyond that is counted and lost."""


class LogFilter(msgspec.Struct, frozen=True):
    """What is written down of all that runs say: nothing less severe; if `quiet`, nothing harmless but lifecycle."""

    level: str = "info"
    quiet: bool = False

    def takes(self, level: str, topic: str) -> bool:
        """Whether an entry of this kind is."""
        if self.quiet and topic != "lifecycle" and level not in ("warn", "error"):
            return False
        return LEVELS.index(level) >= LEVELS.index(self.level)


class NewLogEntry(msgspec.Struct, frozen=True, gc=False):
    """Something a run says; `fields` is a JSON object as text."""

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
    """A run with its log, for whoever looks logs up. `name` is its schedule's id, or its own when it has none.

    `silent` is one of which it is time to say that it lives.
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


class LogPart(msgspec.Struct, frozen=True):
    """Some entries of a log, oldest first. When it is sealed and these are none, there will be none.

    `sealed` is None when there is no log.
    """

    entries: list[LogEntry]
    sealed: bool | None
    key: str | None
    name: str = ""
    uid: str = ""


class DueLog(msgspec.Struct, frozen=True):
    """When there is something to say of a run: after so long, at each so many pages, and so long after its end."""

    every_ms: int
    step: int
    grace_ms: int


class LogMark(NamedTuple):
    """Where a reader of a schedule's logs is: behind this entry of this run."""

    run_id: int
    number: int

    def __str__(self) -> str:
        return f"{self.run_id}-{self.number}"


START = LogMark(0, 0)


def behind(run_id: int) -> LogMark:
    """Where a reader is to whom a run has nothing more to say: before everything of later ones."""
    return LogMark(run_id + 1, 0)


def mark_of(text: str | None) -> LogMark | None:
    """The mark in a text; None for what is none."""
    run_id, _, number = (text or "").strip().partition("-")
    fits = all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (run_id, number))
    return LogMark(int(run_id), int(number)) if fits else None


def told(entry: LogEntry, name: str, uid: str) -> dict[str, Any]:
    """An entry as it is told to readers and kept in archives, in the words of the interval contract."""
    line = {
        "schema_version": 1,
        # Nanoseconds are how it is written, not how well it is known.
        "timestamp": f"{written(entry.at)[:-1]}000000Z",
        "level": entry.level,
        "category": f"crawler.{entry.topic}",
        "message": entry.message,
        "job_id": name,
        "execution_id": uid,
    }
    return line | {"fields": msgspec.json.decode(entry.fields)} if entry.fields else line


def archive_key(name: str, number: int) -> str:
    """Where the log of a run is kept."""
    return f"logs/{name}/{number}.log.gz"
