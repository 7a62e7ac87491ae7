"""Runs as lists and pages show them: with the names of their source and schedule, and without their plan."""

import msgspec

from longline.model.runs.run import RunKind

MAX_SEARCHED_RUNS = 20_000
"""Number of the newest runs in which a text is searched: a list answers soon, however many runs there are."""

MAX_COUNTED_TASKS = 20_000
"""Number of the newest tasks of a run that are counted by host."""


class RunQuery(msgspec.Struct, frozen=True):
    """A choice of runs; `text` is a part of the start URL or of the name of the source."""

    state: str | None = None
    kind: RunKind | None = None
    source_id: int | None = None
    text: str | None = None
    schedule_id: int | None = None


class RunView(msgspec.Struct, frozen=True):
    """A run in a list. admitted = open + completed + failed + cancelled + skipped, always."""

    id: int
    uid: str
    kind: RunKind
    state: str
    seed: str
    source_id: int | None
    source: str | None
    schedule_id: int | None
    schedule: str | None
    budget: int | None
    standing: bool
    number: int | None
    error: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    owner: int | None
    worker: str | None
    admitted: int
    open: int
    completed: int
    failed: int
    cancelled: int
    skipped: int
    items: int

    @property
    def title(self) -> str:
        """The name by which people know the run."""
        return self.source or self.seed or f"{self.kind} {self.id}"

    def lasts(self, now: int) -> int | None:
        """Return the time in milliseconds that the run took, or has taken so far."""
        return None if self.started_at is None else (self.ended_at or now) - self.started_at

    def pages_per_second(self, now: int) -> float | None:
        """Return the mean pace of the run, or None for one that has not begun."""
        life_ms = self.lasts(now)
        return self.completed * 1000 / life_ms if life_ms else None


class HostTasks(msgspec.Struct, frozen=True):
    """The number of tasks of a run on one host with the same state and reason."""

    host: str
    state: str
    reason: str | None
    count: int
