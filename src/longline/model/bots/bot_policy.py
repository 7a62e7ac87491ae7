"""Schedules for bots, and the rule of their next due time after failures."""

import msgspec

from longline.model.back_off import back_off
from longline.model.bots.bot_task import CreatedFilter

MAX_DOUBLINGS = 3
"""Largest number of times that the wait of a failing schedule doubles."""


class NewBotPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule for bots to be made: for one `url`, or for the known URLs of a `domain` under a `name`."""

    uid: str
    url: str | None = None
    domain: str | None = None
    name: str | None = None
    pattern: str = ""
    interval_ms: int
    priority: int
    max_retries: int
    backoff_ms: int
    lease_ms: int
    enabled: bool
    next_due: int
    config: str = "{}"

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the moves by which the schedule comes to its first state."""
        return ("create", "place") if self.enabled else ("create", "place", "pause")


class BotPolicyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule for bots as stored."""

    schedule_id: int
    uid: str
    state: str
    url: str | None
    domain: str | None
    name: str | None
    pattern: str
    interval_ms: int
    priority: int
    max_retries: int
    backoff_ms: int
    lease_ms: int
    next_due: int
    last_success_at: int | None
    last_failed_at: int | None
    failures: int
    config: str
    created_at: int
    updated_at: int


class PolicyFilter(CreatedFilter, frozen=True, kw_only=True):
    """The filter of a list of schedules for bots; `before` continues a list behind a schedule."""

    state: str | None = None
    priority: int | None = None
    next_due_after: int | None = None
    next_due_before: int | None = None
    before: int | None = None


class PolicyStats(msgspec.Struct, frozen=True):
    """Numbers of schedules for bots (all, enabled, due, failing), and the next due time."""

    total: int
    enabled: int
    due: int
    failing: int
    next_due: int | None


class Planned(msgspec.Struct, frozen=True):
    """Counts of a pass over due schedules."""

    created: int = 0
    skipped: int = 0


def back_off_ms(base_ms: int, failures: int) -> int:
    """Return the wait of a schedule after this many failures in a row: the base, doubled up to three times."""
    return back_off(base_ms, failures - 1, base_ms << MAX_DOUBLINGS)
