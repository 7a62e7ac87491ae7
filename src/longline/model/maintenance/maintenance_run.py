"""Runs of maintenance tasks, and the times at which they start by themselves."""

from enum import StrEnum

import msgspec

from longline.model.duration import DAY_MS, MINUTE_MS

LEASE_MS = 30 * MINUTE_MS
"""Time after which a run that has not ended counts as dead, and its task may run again."""

KEPT_MS = 400 * DAY_MS
"""Age at which the records of ended runs are deleted."""

LAPSED_ERROR = "the lease of the run has lapsed"
"""Error of a run whose process stopped in the middle of it."""


class MaintenanceState(StrEnum):
    """The stage of a run of a maintenance task."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class MaintenanceResult(msgspec.Struct, frozen=True):
    """The result of a run: the number of rows that it changed, and further facts as a JSON object."""

    rows: int = 0
    facts: str = "{}"


class MaintenanceSchedule(msgspec.Struct, frozen=True):
    """The times of a task: a cron expression, whether it is on, and the next time."""

    task: str
    cron: str
    enabled: bool
    next_at: int
    updated_at: int = 0


class MaintenanceRunRow(msgspec.Struct, frozen=True):
    """A run of a task as stored; a run that started by itself has no caller."""

    id: str
    task: str
    state: str
    caller_id: str | None
    caller_name: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    rows_changed: int
    error: str | None
    facts: str
