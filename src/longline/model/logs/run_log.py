"""Logs of runs: entries in one order, numbered from one without a gap."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from longline.model.states import RUN_ENDED
from longline.model.storable_text import storable
from longline.model.timestamps import read_us, written_us
from longline.model.whole_number import whole_number

LEVELS = ("debug", "info", "warn", "error")
"""Levels from the least to the most severe."""

MAX_ENTRIES = 50_000
"""Largest number of entries kept for one run; further entries are counted and dropped."""

MAX_MESSAGE_CHARS = 8192
"""Largest number of characters kept of the message of an entry."""


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


def start_entry(run_id: int, at: int) -> NewLogEntry:
    """Return the first entry of the log of a run that was started."""
    return NewLogEntry(run_id, at, "info", "lifecycle", "run started")


def fields_text(fields: dict[str, Any] | None) -> str | None:
    """Return the fields of an entry as JSON; long texts among them are cut, so that the whole stays JSON."""
    if not fields:
        return None
    text = msgspec.json.encode(fields, enc_hook=str).decode()
    if len(text) > MAX_MESSAGE_CHARS:
        room = MAX_MESSAGE_CHARS // (2 * len(fields))
        short = {name: value if isinstance(value, int | float) else str(value)[:room] for name, value in fields.items()}
        text = msgspec.json.encode(short).decode()
    return storable(text)


class LogEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored; `number` is its place in the log of its run.

    `at_us` is in UTC microseconds. Later numbers of a run have later times.
    """

    run_id: int
    number: int
    at_us: int
    level: str
    topic: str
    message: str
    fields: str | None

    @property
    def at(self) -> int:
        """Return the time in milliseconds."""
        return self.at_us // 1000


def written_fields(entry: LogEntry) -> dict[str, str]:
    """Return the fields of an entry by their names, each as text; one that is no text is written as JSON."""
    fields = msgspec.json.decode(entry.fields, type=dict[str, Any]) if entry.fields else {}
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode() for name, value in fields.items()
    }


class LogQuery(msgspec.Struct, frozen=True):
    """The choice of entries: behind number `after`, of exactly this level, and later than `since_us`."""

    after: int = 0
    level: str | None = None
    since_us: int | None = None

    def takes(self, entry: LogEntry) -> bool:
        """Return whether an entry is chosen."""
        later = self.since_us is None or entry.at_us > self.since_us
        return later and entry.number > self.after and self.level in (None, entry.level)


class StoredLogPage(msgspec.Struct, frozen=True):
    """A page of the entries in the database, from behind number `after`, with the head of their log.

    `first` is the smallest number in the database, and `last` the largest that was given. The entries up to `kept` are
    in the object `key`. `counts` has the numbers of all entries by level, deleted ones included.
    """

    entries: list[LogEntry]
    after: int
    first: int | None
    last: int
    counts: dict[str, int]
    sealed: bool
    key: str | None
    kept: int


class LogPage(msgspec.Struct, frozen=True):
    """A page of a log, oldest entries first. `total` counts the entries of the level, those of all pages.

    `counts` are those of all levels, and `last` is the largest number that was given. A page is `truncated` if entries
    before it are neither in the database nor in the archive any more.
    """

    entries: list[LogEntry]
    counts: dict[str, int]
    total: int = 0
    last: int = 0
    sealed: bool = False
    truncated: bool = False


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
    reported_pages: int | None
    kind: str = "crawl"
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
    place = whole_number(run_id), whole_number(number)
    return None if place[0] is None or place[1] is None else LogMark(place[0], place[1])


def log_line(entry: LogEntry, name: str, uid: str) -> dict[str, Any]:
    """Return an entry in the form of the interval contract, for readers and archives."""
    line = {
        "schema_version": 1,
        # The contract writes nanoseconds; the time is known in microseconds.
        "timestamp": f"{written_us(entry.at_us)[:-1]}000Z",
        "level": entry.level,
        "category": f"crawler.{entry.topic}",
        "message": entry.message,
        "job_id": name,
        "execution_id": uid,
    }
    return line | {"fields": msgspec.json.decode(entry.fields)} if entry.fields else line


def read_line(line: Mapping[str, Any], run_id: int, number: int) -> LogEntry:
    """Return the entry of a line that `log_line` has written."""
    fields = line.get("fields")
    return LogEntry(
        run_id,
        number,
        read_us(line["timestamp"]),
        line["level"],
        line["category"].partition(".")[2],
        line["message"],
        msgspec.json.encode(fields).decode() if fields is not None else None,
    )
