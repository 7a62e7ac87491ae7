"""What a run said: entries in one order, numbered from one without a gap."""

import msgspec

LEVELS = ("debug", "info", "warn", "error")
"""From the least to the most severe."""

TOPICS = ("lifecycle", "fetch", "extract", "error", "rate_limit", "queue", "metrics")
"""What an entry may be about."""

MOST_ENTRIES = 50_000
"""Entries of one run that are kept; what it says beyond that is counted and lost."""


class NewEntry(msgspec.Struct, frozen=True, gc=False):
    """Something a run says; `fields` is a JSON object as text."""

    run_id: int
    at: int
    level: str
    topic: str
    message: str
    fields: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored; `number` is its place in the log of its run."""

    run_id: int
    number: int
    at: int
    level: str
    topic: str
    message: str
    fields: str | None


class LoggedRun(msgspec.Struct, frozen=True):
    """A run with its log, for whoever looks logs up. `name` is its schedule's id, or its own when it has none."""

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


class Part(msgspec.Struct, frozen=True):
    """Some entries of a log, oldest first. When it is sealed and these are none, there will be none."""

    entries: list[Entry]
    sealed: bool
    key: str | None


class Due(msgspec.Struct, frozen=True):
    """When there is something to say of a run: after so long, after so many pages, and so long after its end."""

    every_ms: int
    step: int
    grace_ms: int
