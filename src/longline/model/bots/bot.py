"""A bot is a worker of somebody else's: it pulls tasks, each under a timed lease, and answers for each of them.

The rules are here and pure: who may answer, what an answer makes of a task, when a schedule is due again.
"""

from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.states import TaskState, move

HOUR_MS = 3_600_000
MINUTE_MS = 60_000

STEPS = 3
"""A schedule that fails waits twice as long as before, this many times."""

Refusal = Literal["missing", "not_held", "not_yours", "lapsed"]
Repair = Literal["restart", "expire", "release"]


class NewBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot to be registered. `secret` is a digest; `preview` is the beginning of what it is a digest of."""

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
    """What a bot did so far, and in the hours that were asked for (`…_now`)."""

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
    """The sums of all bots in some hours: tasks pulled, and answers by how they ended."""

    pulled: int
    completed: int
    retried: int
    failed: int


class Pull(msgspec.Struct, frozen=True):
    """A bot that asks for tasks; `reclaim` hands out what others let lapse.

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
    """What a bot got; `skipped` counts what others hold where it looked."""

    tasks: list[PulledTask]
    skipped: int
    reclaimed: int


class BotFinding(msgspec.Struct, frozen=True):
    """What a bot found. The price is in hundredths; `page_key` names the page's text in the blob store."""

    uid: str
    price: int
    currency: str
    title: str
    in_stock: bool
    data: str
    page_key: str | None = None


class BotAnswer(msgspec.Struct, frozen=True):
    """What a bot says of a task: what it found, or why it found nothing. `key` makes a repeat harmless."""

    task_id: int
    created_at: int
    bot: str
    found: BotFinding | None = None
    error: str = ""
    key: str | None = None


class Holding(msgspec.Struct, frozen=True):
    """Where a bot's task stands: its rest, who holds it until when, and the page of the result it has already."""

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
        """The state as others see it."""
        return self.state if self.owner is None else move("task", "pull").became


class AnswerVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of an answer: a refusal, or the task's new rest and what follows from it.

    `replaced` is the page of a result that this one took the place of.
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
    """What a sweep over lapsed leases did."""

    expired: int = 0
    requeued: int = 0
    failed: int = 0


class Planned(msgspec.Struct, frozen=True):
    """What a look at due schedules did."""

    created: int = 0
    skipped: int = 0


class NewBotPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule for bots to be made: for one `url`, or for a `domain`'s known URLs under a `name`."""

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
    """A task for bots to be made. Its limits are copied here, and later changes of the schedule do not reach it."""

    url: str
    host: str
    priority: int
    max_retries: int
    lease_ms: int
    schedule_id: int | None = None


class BotTaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's task as somebody who looks sees it."""

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
        """Where it stands now, in hand or at rest."""
        return self.rest if self.owner is None else move("task", "pull").became


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot found, as stored, with the task it was found for."""

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
    """The outcome of deleting a task: the bot that holds it and so prevents it, or the key of its result's page."""

    holder: str | None = None
    page_key: str | None = None


class TaskFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks of bots a list shows. `part` is part of the URL or of the holder's name.

    In this and the other filters, a period begins with `…_after` and ends before `…_before`, in UTC milliseconds.
    """

    state: str | None = None
    priority: int | None = None
    holder: str | None = None
    part: str | None = None
    created_after: int | None = None
    created_before: int | None = None
    locked_after: int | None = None
    locked_before: int | None = None


class ResultFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results a list shows."""

    currency: str | None = None
    in_stock: bool | None = None
    created_after: int | None = None
    created_before: int | None = None
    crawled_after: int | None = None
    crawled_before: int | None = None


class ScheduleFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which schedules for bots a list shows."""

    state: str | None = None
    priority: int | None = None
    created_after: int | None = None
    created_before: int | None = None
    next_due_after: int | None = None
    next_due_before: int | None = None


class PolicyStats(msgspec.Struct, frozen=True):
    """How many schedules for bots there are, are on, are due, are failing, and when the next is due."""

    total: int
    enabled: int
    due: int
    failing: int
    next_due: int | None


def lapsed(due: int, now: int) -> bool:
    """Whether a lease that runs until `due` has run out; at its very end it has not."""
    return now > due


def refusal(holding: Holding | None, created_at: int, bot: str, now: int) -> Refusal | None:
    """Why this bot may not answer for a task, in the order in which it is told; None when it may."""
    if holding is None or holding.created_at != created_at:
        return "missing"
    if holding.owner is None or holding.due is None:
        return "not_held"
    if holding.holder != bot:
        return "not_yours"
    return "lapsed" if lapsed(holding.due, now) else None


def after_answer(holding: Holding, found: bool) -> TaskState:
    """Where a task comes to rest with an answer: tried again while fewer retries were granted than may be."""
    if found:
        return TaskState(move("task", "submit").became)
    again = holding.retries < holding.max_retries
    return TaskState(move("task", "hand_back" if again else "give_up").became)


def exhausted(lapses: int, max_retries: int) -> bool:
    """Return whether a task's leases lapsed so often that it is not offered again."""
    return lapses > max_retries


def after_lapse(holding: Holding, retry: bool) -> TaskState:
    """Where a task comes to rest when its lease lapsed; one that lapsed too often is not offered again."""
    if retry:
        return TaskState(move("task", "lapse" if holding.retries < holding.max_retries else "exhaust").became)
    return TaskState(move("task", "exhaust" if exhausted(holding.lapses, holding.max_retries) else "expire").became)


def back_off(base_ms: int, failures: int) -> int:
    """How long a schedule waits after this many failures in a row: the base, doubled up to three times."""
    return int(base_ms * 2 ** min(max(failures - 1, 0), STEPS))


def url_key(url: str) -> bytes:
    """By which a schedule knows that a URL of its own has an open task."""
    return sha256(url.encode()).digest()
