"""Recrawls as lists show them: phases, filters, orders and counts."""

from typing import Literal, get_args

import msgspec

from longline.model.states import TaskState as T

MAX_COUNTED = 10_000
"""Largest number of rows that a list counts one by one."""
URGENT_PRIORITY = 2
"""Lowest of the priorities that count as urgent."""
Phase = Literal[
    "waiting",
    "ready",
    "in_hand",
    "downloaded",
    "queued_parse",
    "parsing",
    "completed",
    "failed",
    "paused",
    "cancelled",
]
"""A recrawl as lists show it: `waiting` is not due, held, or waits for its parent; `ready` is due and not leased."""
PHASES: tuple[Phase, ...] = get_args(Phase)
COUNTED_PHASES = frozenset({"completed", "failed", "paused", "cancelled"})
"""Phases that are rests: no task of them is due, held or leased, so the kept counts are theirs."""
SortField = Literal["id", "created_at", "updated_at", "due_at", "ended_at", "priority", "phase", "retries"]


class RecrawlRow(msgspec.Struct, frozen=True, kw_only=True):
    """A recrawl with the facts of its task and its page; times are UTC milliseconds."""

    id: int
    source_id: int
    source_name: str
    source_url: str
    source_uses: str
    run_id: int
    url: str
    url_hash: str
    generation: int
    state: str
    phase: Phase
    priority: int
    due_at: int
    started_at: int | None
    ended_at: int
    retries: int
    max_attempts: int | None
    reason: str | None
    error: str | None
    status: int | None
    frequency: str
    next_at: int | None
    recurring: bool
    has_page: bool
    fetch_ms: int | None
    proxy_id: int | None
    proxy_host: str | None
    created_by: str
    created_at: int
    updated_at: int
    token: int
    owner: int | None
    lease_until: int | None
    batch_id: int | None
    parent_id: int | None
    depth: int
    webhook: str | None


class RecrawlQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The filter and the order of a list of recrawls; `order` is that of phases, for a list by phase."""

    source_id: int | None = None
    phase: Phase | None = None
    priority_min: int | None = None
    priority_max: int | None = None
    created_after: int | None = None
    created_before: int | None = None
    recurring: bool | None = None
    batch_id: int | None = None
    created_by: str | None = None
    sort: SortField = "created_at"
    falling: bool = True
    order: tuple[Phase, ...] = PHASES

    @property
    def is_counted(self) -> bool:
        """Return whether the total comes from kept counts: the filter has no more than a source and a counted phase."""
        counted = RecrawlQuery(
            source_id=self.source_id,
            phase=self.phase if self.phase in COUNTED_PHASES else None,
            sort=self.sort,
            falling=self.falling,
            order=self.order,
        )
        return self == counted


class RecrawlPage(msgspec.Struct, frozen=True):
    """One page of a list; `is_bounded` says that `total` is a lower bound."""

    rows: tuple[RecrawlRow, ...]
    total: int
    is_bounded: bool = False


class RecrawlStats(msgspec.Struct, frozen=True):
    """Counts of recrawls that were made in a time, and averages over those with a page."""

    by_phase: dict[str, int]
    average_ms: float | None
    later_generations: int
    seconds_by_phase: dict[str, float]

    @property
    def total(self) -> int:
        """Return the number of recrawls."""
        return sum(self.by_phase.values())


class QueueDepths(msgspec.Struct, frozen=True):
    """Recrawls that are due, leased by workers, offered to parsers and leased by parsers; `urgent` ones by priority."""

    urgent_ready: int
    urgent_in_hand: int
    ready: int
    in_hand: int
    offered: int
    parsing: int


class BatchRow(msgspec.Struct, frozen=True):
    """A batch, with the number of its recrawls in each phase."""

    id: int
    name: str
    created_at: int
    counts: dict[str, int] = {}

    @property
    def total(self) -> int:
        """Return the number of recrawls."""
        return sum(self.counts.values())


def phase_of(state: str, *, due_at: int, waits: bool, is_held: bool, now_ms: int) -> Phase:
    """Return the phase of a recrawl whose task is in this state, leased or at rest."""
    if state in (T.QUEUED, T.CRAWLING):
        return "in_hand"
    if state == T.PENDING:
        return "waiting" if waits or is_held or due_at > now_ms else "ready"
    found = "failed" if state == T.SKIPPED else state
    return next((phase for phase in PHASES if phase == found), "waiting")
