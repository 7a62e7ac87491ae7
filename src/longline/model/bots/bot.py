"""Bots: external workers that pull tasks, each under a timed lease, and answer for each task.

Pure rules: the right to answer, the effect of an answer on a task, and the next due time of a schedule.
"""

from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.back_off import back_off
from longline.model.states import TaskState, move

HOUR_MS = 3_600_000
MINUTE_MS = 60_000

MAX_DOUBLINGS = 3
"""Largest number of times that the wait of a failing schedule doubles."""

Refusal = Literal["missing", "not_held", "not_yours", "lapsed"]
Repair = Literal["restart", "expire", "release"]


class NewBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot to be registered. `secret` is a digest; `preview` is the beginning of the token."""

    name: str
    title: str = ""
    description: str = ""
    enabled: bool = True
    secret: str | None = None
    preview: str = ""
    secret_until: int | None = None
    max_pull: int = 10
    lease_ms: int | None = None
    per_minute: int | None = 60
    boost: int = 0
    domains: str = "[]"


class BotRow(NewBot, frozen=True, kw_only=True):
    """A bot as stored, with its figures."""

    id: int
    registered: bool
    pulled: int
    completed: int
    failed: int
    last_pull_at: int | None
    last_submit_at: int | None
    created_at: int
    updated_at: int


class BotActivity(msgspec.Struct, frozen=True):
    """Counts of a bot's work in all, and in the requested hours (`…_now`)."""

    name: str
    registered: bool
    enabled: bool
    pulled: int
    completed: int
    failed: int
    last_pull_at: int | None
    last_submit_at: int | None
    pulls_now: int
    pulled_now: int
    completed_now: int
    retried_now: int
    failed_now: int


class BotTotals(msgspec.Struct, frozen=True):
    """The sums of all bots in some hours: tasks pulled, and answers by outcome."""

    pulled: int
    completed: int
    retried: int
    failed: int


class Pull(msgspec.Struct, frozen=True):
    """A bot's request for tasks; with `reclaim`, tasks with lapsed leases are handed out too.

    `needle` is part of a host's name. `domains` and `names` are JSON lists: a domain stands for itself and every host
    below it, a name for one host, and `*.name` for every host below that name.
    """

    bot: str
    bot_id: int | None
    limit: int
    needle: str | None = None
    domains: str = "[]"
    lease_ms: int | None = None
    reclaim: bool = True
    names: str = "[]"


class PulledTask(msgspec.Struct, frozen=True):
    """A task in a bot's hand until `until`."""

    id: int
    created_at: int
    url: str
    priority: int
    max_retries: int
    retries: int
    held_ms: int
    until: int


class Pulled(msgspec.Struct, frozen=True):
    """The tasks that a bot pulled; `skipped` counts tasks of the same hosts that other bots hold."""

    tasks: list[PulledTask]
    skipped: int
    reclaimed: int


class BotFinding(msgspec.Struct, frozen=True):
    """A bot's result for a task. The price is in hundredths; `page_key` names the page's text in the object store."""

    uid: str
    price: int
    currency: str
    title: str
    in_stock: bool
    data: str
    page_key: str | None = None


class BotAnswer(msgspec.Struct, frozen=True):
    """A bot's answer for a task: a result, or an error. `key` makes the answer idempotent."""

    task_id: int
    created_at: int
    bot: str
    found: BotFinding | None = None
    error: str = ""
    key: str | None = None


class Holding(msgspec.Struct, frozen=True):
    """A bot's task with its rest, its holder, the end of its lease, and the page of the result that it has already."""

    id: int
    url: str
    created_at: int
    state: str
    reason: str | None
    run_id: int
    host_id: int
    priority: int
    rested_attempt: int
    owner: int | None
    token: int | None
    due: int | None
    attempt: int | None
    holder: str | None
    schedule_id: int | None
    max_retries: int
    retries: int
    lapses: int
    held_ms: int
    page_key: str | None = None

    @property
    def shown(self) -> str:
        """Return the public state, in hand or at rest."""
        return self.state if self.owner is None else move("task", "pull").became


class AnswerVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The effect of an answer: a refusal, or the task's new rest and its consequences.

    `replaced` is the page of the earlier result that this result replaced.
    """

    refusal: Refusal | None = None
    state: str = ""
    holder: str = ""
    retries: int = 0
    max_retries: int = 0
    error: str = ""
    next_due: int | None = None
    until: int | None = None
    found: BotFinding | None = None
    schedule_id: int | None = None
    replayed: bool = False
    replaced: str | None = None


class Swept(msgspec.Struct, frozen=True):
    """Counts of a sweep over lapsed leases."""

    expired: int = 0
    requeued: int = 0
    failed: int = 0


class Planned(msgspec.Struct, frozen=True):
    """Counts of a pass over due schedules."""

    created: int = 0
    skipped: int = 0


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


class NewBotTask(msgspec.Struct, frozen=True):
    """A task for bots to be made. Its limits are copies: later changes of the schedule do not affect the task."""

    url: str
    host: str
    priority: int
    max_retries: int
    lease_ms: int
    schedule_id: int | None = None


class BotTaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's task as lists show it."""

    id: int
    url: str
    rest: str
    priority: int
    error: str | None
    created_at: int
    owner: int | None
    due: int | None
    holder: str | None
    schedule_uid: str | None
    max_retries: int
    retries: int
    lapses: int
    lease_ms: int
    held_ms: int
    held_at: int | None
    answered_at: int | None
    updated_at: int

    @property
    def state(self) -> str:
        """Return the present state, in hand or at rest."""
        return self.rest if self.owner is None else move("task", "pull").became


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's result as stored, with its task."""

    id: int
    url: str
    task_created_at: int
    uid: str
    price: int
    currency: str
    title: str
    in_stock: bool
    data: str
    page_key: str | None
    crawled_at: int
    created_at: int


class Deletion(msgspec.Struct, frozen=True):
    """The outcome of deleting a task: the holder that prevents it, or the key of the page of the task's result."""

    holder: str | None = None
    page_key: str | None = None


class CreatedFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The filter of a list by the time of creation.

    A period begins with `…_after` and ends before `…_before`, in UTC milliseconds.
    """

    created_after: int | None = None
    created_before: int | None = None


class TaskFilter(CreatedFilter, frozen=True, kw_only=True):
    """The filter of a list of bots' tasks. `part` is part of the URL or of the holder's name."""

    state: str | None = None
    priority: int | None = None
    holder: str | None = None
    part: str | None = None
    locked_after: int | None = None
    locked_before: int | None = None


class ResultFilter(CreatedFilter, frozen=True, kw_only=True):
    """The filter of a list of results."""

    currency: str | None = None
    in_stock: bool | None = None
    crawled_after: int | None = None
    crawled_before: int | None = None


class PolicyFilter(CreatedFilter, frozen=True, kw_only=True):
    """The filter of a list of schedules for bots."""

    state: str | None = None
    priority: int | None = None
    next_due_after: int | None = None
    next_due_before: int | None = None


class PolicyStats(msgspec.Struct, frozen=True):
    """Numbers of schedules for bots (all, enabled, due, failing), and the next due time."""

    total: int
    enabled: int
    due: int
    failing: int
    next_due: int | None


def lapsed(due: int, now: int) -> bool:
    """Return whether a lease that lasts until `due` has lapsed; at `due` itself it has not."""
    return now > due


def refusal(holding: Holding | None, created_at: int, bot: str, now: int) -> Refusal | None:
    """Return the first reason why a bot may not answer for a task; None when it may."""
    if holding is None or holding.created_at != created_at:
        return "missing"
    if holding.owner is None or holding.due is None:
        return "not_held"
    if holding.holder != bot:
        return "not_yours"
    return "lapsed" if lapsed(holding.due, now) else None


def after_answer(holding: Holding, found: bool) -> TaskState:
    """Return the rest of a task after an answer: without a result, a retry while retries are left."""
    if found:
        return TaskState(move("task", "submit").became)
    again = holding.retries < holding.max_retries
    return TaskState(move("task", "hand_back" if again else "give_up").became)


def exhausted(lapses: int, max_retries: int) -> bool:
    """Return whether a task's leases lapsed so often that it is not offered again."""
    return lapses > max_retries


def after_lapse(holding: Holding, retry: bool) -> TaskState:
    """Return the rest of a task after its lease lapsed; a task that lapsed too often is not offered again."""
    if retry:
        return TaskState(move("task", "lapse" if holding.retries < holding.max_retries else "exhaust").became)
    return TaskState(move("task", "exhaust" if exhausted(holding.lapses, holding.max_retries) else "expire").became)


def back_off_ms(base_ms: int, failures: int) -> int:
    """Return the wait of a schedule after this many failures in a row: the base, doubled up to three times."""
    return back_off(base_ms, failures - 1, base_ms << MAX_DOUBLINGS)


def url_key(url: str) -> bytes:
    """Return the key by which a schedule finds the open task of a URL."""
    return sha256(url.encode()).digest()
