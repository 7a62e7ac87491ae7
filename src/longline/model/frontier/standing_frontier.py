"""The standing frontier, as those who look see it: URLs that were given to us one by one, outside any crawl."""

from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.states import TaskState as T
from longline.model.url import Url, dedupe_key, interval_form

ORIGINS = ("feed", "sitemap", "spider", "manual", "discovered")
"""Where a URL may come from. Its run is the standing one of its origin and its source."""

STANDING = "frontier."
"""How the kind of a standing run begins; its origin is the rest."""

SCOPE = 0
"""The scope that all of them share: each URL is there once, whoever gave it. Runs have scopes from 1 on."""

ASLEEP = 253_402_300_800_000
"""When URLs are due that nobody is to fetch before somebody wants that: in the year 10000."""

RESTS: dict[str, frozenset[str]] = {
    "waiting": frozenset({T.PENDING, T.PAUSED, T.EXPIRED}),
    "held": frozenset({T.QUEUED, T.CRAWLING, T.DOWNLOADED, T.QUEUED_PARSE, T.PARSING}),
    "done": frozenset({T.COMPLETED}),
    "given_up": frozenset({T.FAILED, T.SKIPPED, T.CANCELLED}),
}
"""Where a URL is, in a word, by the states of its task; one whose page moved away is done."""

REMOVED = "removed"
"""Where a URL is that was taken out, and the reason for which its task is cancelled."""


def is_standing(kind: str) -> bool:
    """Whether runs of that kind are those of the standing frontier."""
    return kind.startswith(STANDING)


def url_hash(url: str) -> bytes:
    """What identifies a URL here: two spellings of one place are the same."""
    return sha256(interval_form(url).encode()).digest()


def host_of(url: Url) -> str:
    """The host that a URL is kept under here: as in its hash, the usual port of either scheme is no port."""
    return url.hostname if url.host in (f"{url.hostname}:80", f"{url.hostname}:443") else url.host


def key_in(scope: int, url: str) -> bytes:
    """What tells a URL from others in a scope."""
    return url_hash(url) if scope == SCOPE else dedupe_key(url)


class StandingUrl(msgspec.Struct, frozen=True):
    """A URL of the standing frontier, with what is known of its page.

    Where redirects led to other hosts, `task_id` is the task at their end: how that went is how the URL went.
    """

    id: int
    task_id: int
    url: str
    host: str
    kind: str
    source: str
    parent_url: str | None
    depth: int
    priority: int
    state: str
    reason: str | None
    error: str | None
    status: int | None
    next_at: int
    attempt: int
    created_at: int
    updated_at: int
    finished_at: int | None
    fetched_at: int | None
    digest: str | None
    etag: str | None
    last_modified: str | None

    @property
    def rest(self) -> str:
        """Where it is, in a word."""
        return rest_of(self.state, self.reason)


def rest_of(state: str, reason: str | None) -> str:
    """The word for the state of a task."""
    if reason == REMOVED and state == T.CANCELLED:
        return REMOVED
    if reason == "redirected":
        return "done"
    return next(rest for rest, states in RESTS.items() if state in states)


class UrlQuery(msgspec.Struct, frozen=True):
    """Which of them somebody wants to see, and by what they are sorted, the largest first."""

    rest: str | None = None
    source: str | None = None
    host: str | None = None
    kind: str | None = None
    search: str | None = None
    sort: Literal["urgency", "due", "created_at"] = "urgency"
