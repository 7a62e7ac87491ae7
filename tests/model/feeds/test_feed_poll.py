"""Times at which feeds are polled, and feeds that are disabled."""

import msgspec
import pytest

from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.feeds.feed_poll import (
    FAILURES,
    POLL_INTERVAL_MS,
    SEARCH_INTERVAL_MS,
    FeedRow,
    Seen,
    asked,
    disabled,
    dropped,
    enabled,
    failed,
    failure_of,
    found,
    succeeded,
)

NOW = 1_000_000_000
RUN = 7
FEED = FeedRow(100000, "https://a.example/feed", run_id=RUN, stage="poll", etag='"1"', entries=5)


def after(kind: str, times: int, feed: FeedRow = FEED) -> FeedRow:
    """Return the feed after that many polls that failed in one way."""
    for _ in range(times):
        told = failed(msgspec.structs.replace(feed, run_id=RUN, stage="poll"), NOW, RUN, kind, "why")
        assert told is not None
        feed = told
    return feed


@pytest.mark.parametrize(
    ("state", "reason", "status", "kind"),
    [
        ("completed", "ok", 200, None),
        ("completed", "ok", 304, None),
        ("completed", "ok", 204, "unexpected"),
        ("failed", "http_429", 429, "rate_limited"),
        ("failed", "http_429", None, "rate_limited"),
        ("failed", "http_5xx", None, "upstream_failure"),
        ("failed", "http_4xx", 403, "forbidden"),
        ("failed", "http_4xx", 404, "not_found"),
        ("failed", "http_4xx", 410, "gone"),
        ("failed", "http_4xx", 418, "unexpected"),
        ("failed", "http_408", 408, "unexpected"),
        ("failed", "http_425", 425, "unexpected"),
        ("failed", "odd_status", 206, "unexpected"),
        ("failed", "http_5xx", 500, "upstream_failure"),
        ("failed", "http_5xx", 503, "upstream_failure"),
        ("failed", "dns", None, "network"),
        ("failed", "total_timeout", None, "network"),
        ("failed", "reset", None, "network"),
        ("failed", "tls", None, "network"),
        ("failed", "parser_error", 200, "parse_error"),
        ("failed", "bad_encoding", None, "parse_error"),
        ("failed", "too_large", None, "unexpected"),
        ("failed", "redirect_loop", 302, "unexpected"),
        ("failed", "internal", None, "unexpected"),
        ("skipped", "robots", None, "forbidden"),
    ],
)
def test_every_outcome_of_a_poll_has_its_kind(state: str, reason: str, status: int | None, kind: str | None) -> None:
    assert failure_of(state, reason, status) == kind


@pytest.mark.parametrize(
    ("kind", "limit", "hours"),
    [
        ("forbidden", 5, 24),
        ("not_found", 3, 48),
        ("gone", 1, 72),
        ("upstream_failure", 10, 6),
        ("network", 10, 12),
        ("parse_error", 5, 24),
    ],
)
def test_a_feed_that_fails_too_often_is_disabled_for_a_while(kind: str, limit: int, hours: int) -> None:
    last = after(kind, limit - 1)
    assert (last.disabled_at, last.errors) == (None, limit - 1)

    resting = after(kind, limit)

    assert (resting.disabled_at, resting.disabled_reason) == (NOW, kind)
    assert resting.due_at == NOW + hours * HOUR_MS
    assert (resting.error_type, resting.error, resting.errors, resting.polled_at) == (kind, "why", limit, NOW)


@pytest.mark.parametrize("kind", ["rate_limited", "unexpected"])
def test_two_kinds_of_failure_never_disable_a_feed(kind: str) -> None:
    assert after(kind, 50).disabled_at is None
    assert {name for name, rule in FAILURES.items() if rule.limit is None} == {"rate_limited", "unexpected"}


def test_the_wait_for_a_feed_that_throttles_doubles_up_to_eight_hours() -> None:
    waits = [(after("rate_limited", times).next_poll_at or 0) - NOW for times in range(1, 10)]

    assert [wait // MINUTE_MS for wait in waits] == [5, 10, 20, 40, 80, 160, 320, 480, 480]
    assert after("rate_limited", 1).due_at == NOW + POLL_INTERVAL_MS
    assert after("rate_limited", 4).due_at == NOW + 40 * MINUTE_MS


def test_failures_of_all_kinds_count_and_the_latest_has_its_limit() -> None:
    mixed = after("not_found", 1, after("network", 2))

    assert (mixed.errors, mixed.disabled_reason) == (3, "not_found")


def test_a_success_clears_earlier_failures() -> None:
    resting = msgspec.structs.replace(after("not_found", 3), run_id=RUN, stage="poll")

    told = succeeded(resting, NOW, RUN, Seen('"2"', "Mon", 9))

    assert told == FeedRow(
        100000, FEED.url, due_at=NOW + POLL_INTERVAL_MS, polled_at=NOW, etag='"2"', last_modified="Mon", entries=9
    )


def test_a_poll_without_new_entries_is_a_success() -> None:
    told = succeeded(msgspec.structs.replace(FEED, errors=2), NOW, RUN, Seen('"1"'))

    assert told is not None
    assert (told.errors, told.polled_at, told.entries, told.etag) == (0, NOW, 5, '"1"')


def test_a_late_answer_changes_nothing() -> None:
    assert succeeded(FEED, NOW, RUN + 1, Seen()) is None
    assert failed(FEED, NOW, RUN + 1, "gone", "") is None
    assert dropped(FEED, NOW, RUN + 1) is None
    assert found(FEED, NOW, RUN + 1, None) is None
    assert asked(FEED, NOW, RUN + 1, "poll") is None


def test_a_dropped_run_counts_neither_as_success_nor_as_failure() -> None:
    told = dropped(FEED, NOW, RUN)

    assert told == msgspec.structs.replace(FEED, run_id=None, stage=None, due_at=NOW + POLL_INTERVAL_MS)
    assert asked(told, NOW, 8, "poll") == msgspec.structs.replace(told, run_id=8, stage="poll")


def test_a_search_ends_with_a_feed_or_with_a_long_wait() -> None:
    searching = FeedRow(100000, run_id=RUN, stage="usual")

    assert found(searching, NOW, RUN, "https://a.example/rss") == FeedRow(100000, "https://a.example/rss", due_at=NOW)
    assert found(searching, NOW, RUN, None) == FeedRow(100000, due_at=NOW + SEARCH_INTERVAL_MS)


def test_a_person_disables_and_enables_a_feed() -> None:
    resting = disabled(FEED, NOW, "not_found")

    assert (resting.disabled_at, resting.disabled_reason, resting.due_at) == (NOW, "not_found", NOW + 48 * HOUR_MS)
    assert disabled(FEED, NOW, "too loud").due_at == NOW + 24 * HOUR_MS
    again = enabled(after("gone", 1), NOW)
    assert (again.disabled_at, again.disabled_reason, again.errors, again.due_at) == (None, None, 0, NOW)
