"""Schedules of recurring crawls.

The functions are pure and return a schedule's row after an event, given the row before it. A recurring schedule keeps
its phase: after every event, its regular times are `anchor + k * interval`.
"""

from enum import StrEnum
from typing import Literal

import msgspec

from longline.model.back_off import back_off
from longline.model.callers.audit import AuditContext
from longline.model.duration import DAY_MS, HOUR_MS, MINUTE_MS
from longline.model.errors import BadInput
from longline.model.states import ScheduleState

Unit = Literal["minutes", "hours", "days"]
UNITS: dict[str, int] = {"minutes": MINUTE_MS, "hours": HOUR_MS, "days": DAY_MS}


class ScheduleKind(StrEnum):
    """The work of a schedule."""

    CRAWL = "crawl"
    """A run at each regular time."""

    BOT = "bot"
    """A task for bots at each regular time."""


MAX_INTERVAL_MS = 3652 * DAY_MS
MAX_BACKOFF_MS = HOUR_MS
MAX_STRETCHED_MS = DAY_MS
"""Longest interval of an unchanged source that is stretched; a regular interval may be longer."""


class ScheduleSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A person's settings of a schedule; `every` counts `unit`s and recurs only while `enabled`."""

    url: str
    kind: ScheduleKind = ScheduleKind.CRAWL
    source_ref: str = ""
    source_name: str | None = None
    every: int | None = None
    unit: Unit = "minutes"
    enabled: bool = False
    adaptive: bool = True
    max_retries: int = 3
    backoff_seconds: int = 60
    written_time: str | None = None
    metadata: str = "{}"
    priority: int = 50
    automatic: bool = False

    @property
    def interval_ms(self) -> int | None:
        """Return the time between two regular runs; None for a schedule that runs once."""
        return self.every * UNITS[self.unit] if self.enabled and self.every is not None else None

    def check(self) -> None:
        """Raise `BadInput` for terms that are out of range or contradict each other."""
        if self.every is not None and self.every <= 0:
            raise BadInput("the interval must be greater than 0")
        if self.every is not None and self.every * UNITS[self.unit] > MAX_INTERVAL_MS:
            raise BadInput("the interval must not be more than ten years")
        if self.enabled and self.every is None:
            raise BadInput("a recurring schedule needs an interval")
        if self.max_retries < 0:
            raise BadInput("the number of retries must not be negative")
        if self.backoff_seconds <= 0:
            raise BadInput("the delay before a retry must be greater than 0")


class NewSchedule(msgspec.Struct, frozen=True):
    """A schedule to be made; `interval_ms` None means once, `window_ms` requests the least loaded slot of that time.

    An `unplaced` recurring schedule is pending until its first run, at `next_due`. `audit` is the order of a caller, of
    which the new row is the audited change: schedules of several callers are made in one transaction.
    """

    uid: str
    url: str
    source_id: int | None = None
    interval_ms: int | None = None
    next_due: int | None = None
    terms: ScheduleSpec | None = None
    window_ms: int | None = None
    unplaced: bool = False
    audit: AuditContext | None = None

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the moves by which the schedule comes to its first state."""
        return ("create",) if self.interval_ms is None or self.unplaced else ("create", "place")


class ScheduleFilter(msgspec.Struct, frozen=True):
    """The filter and the order of a list of schedules.

    `after`, the next start (None without one) and the id of a schedule, continues a list by next start. `ids`, if there
    are any, choose alone.
    """

    kind: ScheduleKind | None = None
    states: tuple[str, ...] = ()
    source_ref: str | None = None
    search: str | None = None
    sort: str = "created_at"
    ascending: bool = False
    after: tuple[int | None, int] | None = None
    ids: tuple[int, ...] = ()


class ScheduleRow(ScheduleSpec, frozen=True, kw_only=True):
    """A schedule as stored. `interval_ms` is the stored interval, which recurs also where no unit was chosen."""

    id: int
    uid: str
    source_id: int | None
    state: str
    interval_ms: int | None
    next_due: int | None
    created_at: int
    updated_at: int
    owner: int | None
    token: int
    lease_until: int | None
    anchor: int | None = None
    placed_at: int | None = None
    retries: int = 0
    failures: int = 0
    failed_at: int | None = None
    started_at: int | None = None
    completed_at: int | None = None
    cancelled_at: int | None = None
    paused_at: int | None = None
    paused_by: str | None = None
    error: str | None = None
    last_due: int | None = None
    run_id: int | None = None
    runs_made: int = 0

    @property
    def terms(self) -> ScheduleSpec:
        """Return the settings of the schedule."""
        return ScheduleSpec(**{name: getattr(self, name) for name in ScheduleSpec.__struct_fields__})


class ScheduleTransition(msgspec.Struct, frozen=True):
    """A schedule after one or more moves; `window_ms` requests a place in the least loaded slot of that time.

    `audit` is the order of a caller, of which the moves are the audited change.
    """

    steps: tuple[str, ...]
    after: ScheduleRow
    reason: str | None = None
    window_ms: int | None = None
    audit: AuditContext | None = None


def next_regular(row: ScheduleRow, now: int, stretched_ms: int | None = None) -> int:
    """Return the next time on the phase of a recurring schedule, at least `stretched_ms` after the last time."""
    interval = row.interval_ms or 1
    anchor = now if row.anchor is None else row.anchor
    steps = (now - anchor) // interval + 1
    if stretched_ms is not None and stretched_ms > interval:
        last = anchor + (steps - 1) * interval
        # Round up to the phase: a stretched interval need not be a multiple of the regular interval.
        steps = max(steps, -(-(last + stretched_ms - anchor) // interval))
    return anchor + steps * interval


def back_off_ms(row: ScheduleRow) -> int:
    """Return the wait of a schedule before its next retry."""
    return back_off(row.backoff_seconds * 1000, row.retries, MAX_BACKOFF_MS)


def stretch_ms(interval_ms: int, unchanged: int) -> int:
    """Return the interval of a source that has not changed for `unchanged` runs."""
    return back_off(interval_ms, unchanged, max(interval_ms, MAX_STRETCHED_MS))


def paused(row: ScheduleRow, now: int, by: str) -> ScheduleTransition:
    """Return the schedule paused until it is resumed."""
    after = msgspec.structs.replace(row, state=ScheduleState.PAUSED, paused_at=now, paused_by=by, next_due=None)
    return ScheduleTransition(("pause",), after, by)


def resumed(row: ScheduleRow, due: int | None = None) -> ScheduleTransition:
    """Return the schedule resumed at `due`, or in the least loaded slot of its interval."""
    after = msgspec.structs.replace(
        row, state=ScheduleState.SCHEDULED, paused_at=None, paused_by=None, next_due=due, anchor=due
    )
    return ScheduleTransition(("resume",), after, window_ms=row.interval_ms if due is None else None)


def cancelled(row: ScheduleRow, now: int) -> ScheduleTransition:
    """Return the schedule cancelled for good."""
    return ScheduleTransition(
        ("cancel",), msgspec.structs.replace(row, state=ScheduleState.CANCELLED, cancelled_at=now, next_due=None)
    )


def retried(row: ScheduleRow, now: int) -> ScheduleTransition:
    """Return the schedule due at once after a person's retry, with all its retries left."""
    after = msgspec.structs.replace(
        row, state=ScheduleState.PENDING, retries=0, error=None, completed_at=None, cancelled_at=None, next_due=now
    )
    return ScheduleTransition(("retry",), after)


def forced(row: ScheduleRow, now: int) -> ScheduleTransition:
    """Return the schedule due at once; its regular times stay."""
    return ScheduleTransition(("force_run",), msgspec.structs.replace(row, state=ScheduleState.PENDING, next_due=now))


def succeeded(row: ScheduleRow, now: int, stretched_ms: int | None = None) -> ScheduleTransition:
    """Return the schedule after a successful run."""
    clean = msgspec.structs.replace(row, retries=0, failures=0, error=None, completed_at=now)
    if row.interval_ms is None:
        return ScheduleTransition(
            ("succeed",), msgspec.structs.replace(clean, state=ScheduleState.COMPLETED, next_due=None)
        )
    due = next_regular(row, now, stretched_ms)
    # A successful recurring run passes through `completed`, which is never stored.
    return ScheduleTransition(
        ("succeed", "recur"), msgspec.structs.replace(clean, state=ScheduleState.SCHEDULED, next_due=due)
    )


def failed(row: ScheduleRow, now: int, error: str) -> ScheduleTransition:
    """Return the schedule after a failed run: due for a retry, or failed."""
    hurt = msgspec.structs.replace(row, error=error, failures=row.failures + 1, failed_at=now)
    if row.retries < row.max_retries:
        due = now + back_off_ms(row)
        after = msgspec.structs.replace(hurt, state=ScheduleState.SCHEDULED, retries=row.retries + 1, next_due=due)
        return ScheduleTransition(("retry_later",), after, error)
    after = msgspec.structs.replace(hurt, state=ScheduleState.FAILED, completed_at=now, next_due=None)
    return ScheduleTransition(("fail",), after, error)


def interrupted(row: ScheduleRow, now: int, reason: str) -> ScheduleTransition:
    """Return the schedule after a run that was interrupted through no fault of its own."""
    if row.interval_ms is None:
        return ScheduleTransition(
            ("interrupt",), msgspec.structs.replace(row, state=ScheduleState.PENDING, next_due=now), reason
        )
    after = msgspec.structs.replace(row, state=ScheduleState.SCHEDULED, next_due=next_regular(row, now))
    return ScheduleTransition(("defer",), after, reason)


def without_run(row: ScheduleRow, now: int, reason: str) -> ScheduleTransition:
    """Return the schedule after a person has cancelled its run: cancelled as well, unless it has an interval."""
    if row.interval_ms is not None:
        return interrupted(row, now, reason)
    # Due again, it would start at once the run that a person did not want.
    after = msgspec.structs.replace(row, state=ScheduleState.CANCELLED, cancelled_at=now, next_due=None)
    return ScheduleTransition(("cancel_once",), after, reason)
