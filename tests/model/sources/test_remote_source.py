"""The effect of the source manager's values on our sources."""

import msgspec
import pytest

from longline.model.duration import HOUR_MS
from longline.model.feeds.feed_poll import SEARCH_INTERVAL_MS, FeedRow
from longline.model.sources.remote_source import GONE, distinct_name, feed_followed, followed, withdrawn
from longline.model.sources.source import RemoteSource, SourceRow

NOW = 1_000_000_000
FEED, OTHER = "https://a.example/feed", "https://a.example/other"
ROW = SourceRow(7, "a", "https://a.example/", "{}", True, 1, 1, ref="x", feed_url=FEED, reported_feed_url=FEED)
SAID = RemoteSource(ref="x", name="a", base_url="https://a.example/", feed_url=FEED)
POLLED = FeedRow(7, FEED, due_at=NOW + 5000, errors=2, error="why", etag="e")


def changed(row: SourceRow, **facts: object) -> SourceRow:
    return msgspec.structs.replace(row, **facts)


def said(**facts: object) -> RemoteSource:
    return msgspec.structs.replace(SAID, **facts)


def test_unchanged_values_change_nothing():
    assert followed(ROW, SAID) == ROW
    assert feed_followed(POLLED, NOW, ROW, ROW) == POLLED


def test_the_values_of_the_source_manager_are_taken():
    facts = {"name": "b", "base_url": "https://b.example/", "crawl": '{"a": 1}', "enabled": False, "disabled_at": 5}
    more = {"disable_reason": "why", "feed_wanted": False, "feed_every_ms": 60_000, "identity_key": "k"}
    after = followed(ROW, said(**facts, **more, feed_listed=False))
    assert {name: getattr(after, name) for name in facts | more} == facts | more
    assert after.feed_listed is False
    assert followed(changed(ROW, feed_listed=False), SAID).feed_listed is False, "the list of feeds was not requested"


def test_another_feed_url_begins_a_new_feed():
    resting = changed(ROW, feed_disabled_at=5, feed_disable_reason="gone")
    after = followed(resting, said(feed_url=OTHER))
    assert (after.feed_url, after.reported_feed_url, after.feed_disabled_at) == (OTHER, OTHER, None)
    assert feed_followed(POLLED, NOW, resting, after) == FeedRow(7, due_at=NOW)


def test_a_removed_feed_is_not_searched_at_once():
    after = followed(ROW, said(feed_url=None))
    assert (after.feed_url, after.reported_feed_url) == (None, None)
    assert feed_followed(POLLED, NOW, ROW, after).due_at == NOW + SEARCH_INTERVAL_MS


def test_a_feed_that_was_found_here_stays_until_the_source_manager_names_another():
    found = changed(ROW, reported_feed_url=None)
    assert followed(found, said(feed_url=None)) == found
    assert followed(found, said(feed_url=OTHER)).feed_url == OTHER, "the source manager has precedence"


def test_a_rest_that_began_or_ended_here_stays_until_it_is_reported():
    rests = changed(ROW, feed_disabled_at=5, feed_disable_reason="gone")
    assert followed(rests, SAID) == rests
    awake = changed(ROW, reported_feed_disabled_at=5)
    assert followed(awake, said(feed_disabled_at=5, feed_disable_reason="gone")) == awake


def test_a_rest_that_the_source_manager_ended_is_over():
    told = changed(ROW, feed_disabled_at=5, reported_feed_disabled_at=5, feed_disable_reason="gone")
    after = followed(told, SAID)
    assert (after.feed_disabled_at, after.feed_disable_reason) == (None, None)
    feed = feed_followed(POLLED, NOW, told, after)
    assert (feed.due_at, feed.errors, feed.error, feed.etag) == (NOW, 0, None, "e")


@pytest.mark.parametrize(("reason", "hours"), [("not_found", 48), ("gone", 72), ("by hand", 24), (None, 24)])
def test_a_rest_that_the_source_manager_began_lasts_as_long_as_its_reason(reason: str | None, hours: int):
    after = followed(ROW, said(feed_disabled_at=NOW - HOUR_MS, feed_disable_reason=reason))
    assert (after.feed_disabled_at, after.reported_feed_disabled_at) == (NOW - HOUR_MS, NOW - HOUR_MS)
    assert feed_followed(POLLED, NOW, ROW, after).due_at == NOW + (hours - 1) * HOUR_MS


def test_a_feed_that_is_listed_again_is_due_at_once_unless_it_throttles():
    rests = changed(ROW, feed_listed=False, feed_disabled_at=5, reported_feed_disabled_at=5)
    after = changed(rests, feed_listed=True)
    assert feed_followed(POLLED, NOW, rests, after) == msgspec.structs.replace(POLLED, due_at=NOW)
    slow = msgspec.structs.replace(POLLED, next_poll_at=NOW + 9)
    assert feed_followed(slow, NOW, rests, after).due_at == NOW + 9
    assert feed_followed(POLLED, NOW, after, after) == POLLED


def test_a_source_that_the_source_manager_removed_is_disabled_and_loses_its_name():
    gone = withdrawn(changed(ROW, reported_feed_url=None, feed_disabled_at=5), NOW)
    assert (gone.name, gone.enabled, gone.disable_reason, gone.disabled_at) == ("a (x)", False, GONE, NOW)
    assert (gone.reported_feed_url, gone.reported_feed_disabled_at) == (FEED, 5), "there is no service to report to"
    assert followed(gone, SAID).name == "a"
    assert distinct_name(gone.name, "x") == gone.name
