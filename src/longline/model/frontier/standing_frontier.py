"""The standing frontier: URLs that were submitted one by one, outside any crawl."""

from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.states import TaskState as T
from longline.model.urls.normalization import dedupe_key, interval_form
from longline.model.urls.url import Url

SCOPE = 0
"""The scope of all standing runs: each URL is in it once, for all origins. Other runs have scopes from 1 on."""

NEVER_DUE_MS = 253_402_300_800_000
"""Due time, in the year 10000, of URLs that are not fetched before a caller requests it."""

STATES_BY_LIST: dict[str, frozenset[str]] = {
    "waiting": frozenset({T.PENDING, T.PAUSED, T.EXPIRED}),
    "held": frozenset({T.QUEUED, T.CRAWLING, T.DOWNLOADED, T.QUEUED_PARSE, T.PARSING}),
    "done": frozenset({T.COMPLETED}),
    "given_up": frozenset({T.FAILED, T.SKIPPED, T.CANCELLED}),
}
"""Words for the state of a URL, by the states of its task; a redirected URL is done."""

REMOVED = "removed"
"""The word for a URL that was removed, and the reason for which its task is cancelled."""


def url_hash(url: str) -> bytes:
    """Return the hash that identifies a URL in the standing frontier: equivalent spellings have the same hash."""
    return sha256(interval_form(url).encode()).digest()


def host_of(url: Url) -> str:
    """Return the host of a URL in the standing frontier, without the default port of either scheme, as in its hash."""
    return url.hostname if url.host in (f"{url.hostname}:80", f"{url.hostname}:443") else url.host


def key_in(scope: int, url: str) -> bytes:
    """Return the key of a URL in a scope."""
    return url_hash(url) if scope == SCOPE else dedupe_key(url)


class StandingUrl(msgspec.Struct, frozen=True):
    """A URL of the standing frontier, with the facts of its page.

    Where redirects led to other hosts, `task_id` is the task at their end, and its outcome is the URL's.
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
        """Return the word for the URL's state."""
        return rest_of(self.state, self.reason)


def rest_of(state: str, reason: str | None) -> str:
    """Return the word for the state of a task."""
    if reason == REMOVED and state == T.CANCELLED:
        return REMOVED
    if reason == "redirected":
        return "done"
    return next(rest for rest, states in STATES_BY_LIST.items() if state in states)


class UrlQuery(msgspec.Struct, frozen=True):
    """The filter of a list of standing URLs, and its order, the largest first."""

    rest: str | None = None
    source: str | None = None
    host: str | None = None
    kind: str | None = None
    search: str | None = None
    sort: Literal["urgency", "due", "created_at"] = "urgency"
