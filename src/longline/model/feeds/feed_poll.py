"""Polls: the time of a feed's next poll, and the rest of a feed that failed too often."""

import msgspec

from longline.model.back_off import back_off
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.frontier import reasons
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.states import TaskState

POLL_INTERVAL_MS = 15 * MINUTE_MS
SEARCH_INTERVAL_MS = 168 * HOUR_MS
"""Time after which a source without a feed is searched again."""

FIRST_PAUSE_MS = 5 * MINUTE_MS
MAX_PAUSE_MS = 96 * FIRST_PAUSE_MS
"""Shortest and longest pause after a rate-limited poll: doubled each time, up to eight hours."""

ENTRY_PRIORITY, PLACE_PRIORITY = DEFAULT_PRIORITY - 20, DEFAULT_PRIORITY - 10
"""Priorities of entries of feeds, which go first, and of sitemaps, which go before links."""

NOT_MODIFIED = 304

MAX_FEED_REDIRECTS = 5
"""Largest number of redirects to a feed or a sitemap."""

CLAIM_MS = HOUR_MS // 6
"""Milliseconds in which a claimed feed must get its run; another process may claim it then."""


class Failure(msgspec.Struct, frozen=True):
    """The rule for one kind of failure: after `limit` failed polls in a row the feed rests; with None, never."""

    limit: int | None = None
    rest_ms: int = 0
    surprising: bool = False


FAILURES = {
    "rate_limited": Failure(),
    "forbidden": Failure(5, 24 * HOUR_MS),
    "not_found": Failure(3, 48 * HOUR_MS),
    "gone": Failure(1, 72 * HOUR_MS),
    "upstream_failure": Failure(10, 6 * HOUR_MS),
    "network": Failure(10, 12 * HOUR_MS),
    "parse_error": Failure(5, 24 * HOUR_MS),
    "unexpected": Failure(surprising=True),
}

_BY_STATUS = {429: "rate_limited", 403: "forbidden", 404: "not_found", 410: "gone"}
_BY_REASON = {
    "robots": "forbidden",
    "parser_error": "parse_error",
    "no_content": "parse_error",
    "bad_encoding": "parse_error",
    "tls": "network",
    # The status of robots.txt: the feed itself was not requested and has no status.
    "http_429": "rate_limited",
    "http_5xx": "upstream_failure",
}
_NETWORK = {reason for reason in reasons.RETRYABLE if not reason.startswith("http_")} - {"odd_status", "internal"}


class FeedRow(msgspec.Struct, frozen=True):
    """A source's feed as stored: its URL, the result of its last poll, and the time of the next poll.

    A feed without a `url` is still searched for. `url`, `active`, `every_ms`, `disabled_at` and `disabled_reason` are
    stored with the source. `run_id` is the run under way and `stage` its purpose. `disabled_at` is the time since which
    the feed rests because it failed too often; at `due_at` a single poll tries it. `next_poll_at` is set only while the
    feed is rate-limited.
    """

    source_id: int
    url: str | None = None
    active: bool = True
    every_ms: int = POLL_INTERVAL_MS
    stage: str | None = None
    run_id: int | None = None
    due_at: int = 0
    next_poll_at: int | None = None
    polled_at: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    entries: int = 0
    errors: int = 0
    error: str | None = None
    error_type: str | None = None
    disabled_at: int | None = None
    disabled_reason: str | None = None


class Seen(msgspec.Struct, frozen=True):
    """The result of a successful poll; `entries` is None when the feed had not changed."""

    etag: str | None = None
    last_modified: str | None = None
    entries: int | None = None


def failure_of(state: str, reason: str | None, status: int | None) -> str | None:
    """Return the kind of failure with which a poll's task ended, or None when it did not fail."""
    if state == TaskState.COMPLETED:
        return None if status in (200, NOT_MODIFIED) else "unexpected"
    if status is not None and status >= 400:
        return _BY_STATUS.get(status, "upstream_failure" if status >= 500 else "unexpected")
    return _BY_REASON.get(reason or "", "network" if reason in _NETWORK else "unexpected")


def asked(feed: FeedRow, _now: int, run_id: int, stage: str) -> FeedRow | None:
    """Return the feed with a run under way; None when another run is under way."""
    return msgspec.structs.replace(feed, run_id=run_id, stage=stage) if feed.run_id is None else None


def dropped(feed: FeedRow, now: int, run_id: int) -> FeedRow | None:
    """Return the feed after a run without a usable result; None when the run is no longer the feed's."""
    return _answered(feed, run_id, due_at=now + feed.every_ms)


def succeeded(feed: FeedRow, now: int, run_id: int, seen: Seen) -> FeedRow | None:
    """Return the feed after a successful poll; None when the poll is no longer the feed's."""
    return _answered(
        feed,
        run_id,
        due_at=now + feed.every_ms,
        next_poll_at=None,
        polled_at=now,
        etag=seen.etag,
        last_modified=seen.last_modified,
        entries=feed.entries if seen.entries is None else seen.entries,
        errors=0,
        error=None,
        error_type=None,
        disabled_at=None,
        disabled_reason=None,
    )


def failed(feed: FeedRow, now: int, run_id: int, kind: str, error: str) -> FeedRow | None:
    """Return the feed after a failed poll; None when the poll is no longer the feed's."""
    rule, errors = FAILURES[kind], feed.errors + 1
    until = now + back_off(FIRST_PAUSE_MS, feed.errors, MAX_PAUSE_MS) if kind == "rate_limited" else None
    polled = _answered(
        feed,
        run_id,
        due_at=max(now + feed.every_ms, until or 0),
        next_poll_at=until,
        polled_at=now,
        errors=errors,
        error=error,
        error_type=kind,
    )
    if polled is None or rule.limit is None or errors < rule.limit:
        return polled
    return msgspec.structs.replace(polled, due_at=now + rule.rest_ms, disabled_at=now, disabled_reason=kind)


def _answered(feed: FeedRow, run_id: int, **facts: object) -> FeedRow | None:
    if feed.run_id != run_id:
        return None
    return msgspec.structs.replace(feed, run_id=None, stage=None, **facts)


def found(feed: FeedRow, now: int, run_id: int, url: str | None, again: int = SEARCH_INTERVAL_MS) -> FeedRow | None:
    """Return the feed after a search, which is repeated later without a URL; None for a search no longer the feed's."""
    return _answered(feed, run_id, url=url, due_at=now if url else now + again)


def disabled(feed: FeedRow, now: int, reason: str | None) -> FeedRow:
    """Return the feed disabled by a person, for the rest of that kind of failure."""
    rest_ms = FAILURES[reason].rest_ms if reason in FAILURES else 0
    return msgspec.structs.replace(
        feed, disabled_at=now, disabled_reason=reason, due_at=now + (rest_ms or FAILURES["forbidden"].rest_ms)
    )


def enabled(feed: FeedRow, now: int) -> FeedRow:
    """Return the feed without its failures, due at once."""
    return msgspec.structs.replace(
        feed,
        due_at=now,
        next_poll_at=None,
        errors=0,
        error=None,
        error_type=None,
        disabled_at=None,
        disabled_reason=None,
    )
