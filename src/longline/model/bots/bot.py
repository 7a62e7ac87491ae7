"""Bots: external workers that pull tasks, as they are registered and counted."""

import msgspec

MAX_NAME_CHARS = 100
MAX_TITLE_CHARS = 200
"""Longest name and title of a bot that a person registers at the console."""

RANDOM_BYTES = 32
PREVIEW_CHARS = 20
"""Random bytes in the token of a bot, and characters of it that lists show."""


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
