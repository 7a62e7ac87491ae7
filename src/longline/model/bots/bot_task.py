"""Tasks of bots: pulled under a timed lease, and answered for.

Pure rules: the right to answer, and the effect of an answer or of a lapsed lease on a task.
"""

from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.states import TaskState, move

Refusal = Literal["missing", "not_held", "not_yours", "lapsed"]
Repair = Literal["restart", "expire", "release"]

REPAIRS: dict[Repair, TaskState] = {
    "restart": TaskState(move("task", "restart").became),
    "expire": TaskState(move("task", "expire").became),
    "release": TaskState(move("task", "restart").became),
}

LAPSED, LAPSED_ERROR = "lease lapsed", "the lease lapsed"
"""Reason and error of a task whose lease has lapsed."""


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
    """A task leased by a bot until `until`."""

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
        """Return the public state, leased or at rest."""
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
        """Return the present state, leased or at rest."""
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


def url_key(url: str) -> bytes:
    """Return the key by which a schedule finds the open task of a URL."""
    return sha256(url.encode()).digest()
