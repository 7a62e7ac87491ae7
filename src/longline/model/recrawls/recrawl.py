"""Recrawls: each generation of a submitted URL is a task, with a side row for lists and for its next generation."""

from typing import Literal, get_args

import msgspec

from longline.model.recrawls.frequency import DEFAULT_FREQUENCY, frequency_ms
from longline.model.states import TaskState as T

MAX_DEPTH = 3
"""Largest number of parents above a recrawl."""

MAX_COUNTED = 10_000
"""Largest number of rows that a list counts one by one."""

PRIORITY_STEP = 100
"""Distance of two priorities of a person in the queue, which has room between them."""

DEFAULT_DELAY_MS = 1000
DEFAULT_CONCURRENCY = 5
DEFAULT_ATTEMPTS = 4
"""Pause and concurrency at the host of a source that sets none, and attempts at each page."""

RETRY_DELAY_SECONDS = 60.0
MAX_RETRY_DELAY_SECONDS = 1024 * 60.0
"""Pauses before the first retry, and longest: each is twice the one before, and there are at most ten."""

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

RESTS = {
    T.SKIPPED: "failed",
    T.EXPIRED: "pending",
    T.QUEUED: "pending",
    T.CRAWLING: "pending",
    T.PARSING: "queued_parse",
}
"""Rests in side rows, where they are not the states of the tasks."""


def scope_of(generation: int) -> int:
    """Return the scope of a generation, in which every URL is once; other scopes are not negative."""
    return -1 - generation


def is_recrawl(scope: int) -> bool:
    """Return whether a scope is that of recrawls."""
    return scope < 0


class NewRecrawl(msgspec.Struct, frozen=True, kw_only=True):
    """A URL to be fetched now or later, and again after a while if it is `recurring`.

    `host` is its politeness key, `href` the URL for requests. A recrawl with a parent `waits` until the parent has
    completed.
    """

    url: str
    href: str
    url_hash: str
    host: str
    run_id: int
    source_id: int
    priority: int
    max_attempts: int
    created_by: str
    due_at: int | None = None
    frequency: str = DEFAULT_FREQUENCY
    recurring: bool = True
    again_after_failure: bool = False
    generation: int = 0
    batch_id: int | None = None
    parent_id: int | None = None
    depth: int = 0
    webhook: str | None = None

    @property
    def every_ms(self) -> int:
        """Return the milliseconds between two generations."""
        return frequency_ms(self.frequency)


class KnownRecrawl(msgspec.Struct, frozen=True):
    """The last generation of a URL that was submitted before."""

    id: int
    url_hash: str
    rest: str


class RecrawlFind(msgspec.Struct, frozen=True):
    """A URL that the page of a recrawl brought: a child to be submitted, or an image to be stored."""

    task_id: int
    kind: Literal["child", "image"]
    url: str


class FoundUrl(msgspec.Struct, frozen=True):
    """A URL that a page brought, as it waits to be taken."""

    id: int
    task_id: int
    kind: Literal["child", "image"]
    url: str
    source_id: int


class RecrawlSubmission(msgspec.Struct, frozen=True):
    """The result of a submission: the ids of new recrawls by URL hash, and the URLs that were known.

    `repeated` counts URLs that came more than once in it, `refused` those for which a budget had no room.
    """

    ids: dict[str, int]
    known: tuple[KnownRecrawl, ...] = ()
    repeated: int = 0
    refused: int = 0


class RecrawlRow(msgspec.Struct, frozen=True, kw_only=True):
    """A recrawl with the facts of its task and its page; times are UTC milliseconds."""

    id: int
    source_id: int
    source_name: str
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


class Moved(msgspec.Struct, frozen=True):
    """The facts of a task after a move, as its side row needs them; `was` is the rest in the side row."""

    state: str
    was: str
    priority: int
    due: int
    began_at: int | None
    due_at: int
    retries: int
    started_at: int | None
    ended_at: int
    next_at: int | None
    every_ms: int
    recurring: bool
    waits: bool
    again_after_failure: bool = False


class SideRow(msgspec.Struct, frozen=True):
    """The columns of a side row that follow its task."""

    rest: str
    priority: int
    due_at: int
    retries: int
    started_at: int | None
    ended_at: int
    next_at: int | None
    waits: bool


class MoveKind(msgspec.Struct, frozen=True):
    """The kind of a task's move: a report with the attempts that were made, or an order that begins anew.

    `due_at` is the time that an order names, which may be over.
    """

    attempts: int | None = None
    due_at: int | None = None
    is_order: bool = False
    is_anew: bool = False
    keeps_retries: bool = False


REPORTED = MoveKind()


def rest_of(state: str) -> str:
    """Return the rest of a side row for the state of its task."""
    return RESTS.get(T(state), state)


def side_row(task: Moved, kind: MoveKind, now_ms: int) -> SideRow:
    """Return the side row of a task after a move."""
    rest = rest_of(task.state)
    ended_at, started_at = task.ended_at, task.began_at or task.started_at
    if kind.is_anew:
        ended_at, started_at = 0, None if rest == "pending" else started_at
    elif rest in ("completed", "failed") and rest != task.was:
        ended_at = now_ms
    return SideRow(
        rest,
        task.priority,
        _due_at(task, rest, kind, now_ms),
        _retries(task, rest, kind),
        started_at,
        ended_at,
        _next_at(task, rest, ended_at),
        task.waits and rest in ("pending", "paused") and not (kind.is_anew and rest == "pending"),
    )


def _next_at(task: Moved, rest: str, ended_at: int) -> int | None:
    """Return when the next generation is due, which a recrawl has while it is completed, or failed if it goes on."""
    if not task.recurring or (rest != "completed" and not (rest == "failed" and task.again_after_failure)):
        return None
    return task.next_at if task.was == rest and task.next_at is not None else ended_at + task.every_ms


def _due_at(task: Moved, rest: str, kind: MoveKind, now_ms: int) -> int:
    """Return when a recrawl is due: an order makes it due at once, unless it names another time."""
    if rest == "pending" and kind.is_order:
        return now_ms if kind.due_at is None else kind.due_at
    if rest != "pending" or task.waits:
        return task.due_at
    return task.due or task.due_at


def _retries(task: Moved, rest: str, kind: MoveKind) -> int:
    """Return the retries so far: a new phase and a restart begin at 0, a failure without a retry adds none."""
    if kind.is_anew:
        return task.retries if kind.keeps_retries else 0
    if kind.attempts is not None and rest in ("pending", "downloaded"):
        return kind.attempts
    return 0 if rest in ("queued_parse", "completed") and not kind.is_order else task.retries


def phase_of(state: str, *, due_at: int, waits: bool, is_held: bool, now_ms: int) -> Phase:
    """Return the phase of a recrawl whose task is in this state, leased or at rest."""
    if state in (T.QUEUED, T.CRAWLING):
        return "in_hand"
    if state == T.PENDING:
        return "waiting" if waits or is_held or due_at > now_ms else "ready"
    found = "failed" if state == T.SKIPPED else state
    return next((phase for phase in PHASES if phase == found), "waiting")
