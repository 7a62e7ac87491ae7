"""Settings of a source: read, merged with the stored ones, and read again."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.intervals.error_format import IntervalFormat
from longline.surfaces.intervals.sources.source_settings import FeedSettings, merge_settings, stored_settings
from longline.surfaces.request_reader import RequestReader

READER = RequestReader(FeedSettings)


def read(**sent: Any) -> FeedSettings:
    return READER.body(msgspec.json.encode(sent))


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"max_depth": "deep"}, "max_depth must be an integer"),
        ({"ingestion_mode": "odd"}, "ingestion_mode must be one of"),
        ({"article_url_patterns": ["(?=a)"]}, "article_url_patterns: bad pattern"),
        ({"rules": {"allow": ["ok"], "disallow": ["("]}}, "rules.disallow: bad pattern"),
        ({"rules": {"allow": "x"}}, "rules.allow must be a list of strings"),
        ({"sitemap_url": "https://me:secret@a.example/"}, "it has a user name or a password in it"),
        ({"feed_url": "a.example"}, "bad URL 'a.example'"),
        ({"feed_poll_interval_minutes": 0}, "feed_poll_interval_minutes must be positive"),
        ({"rate_limit": []}, "rate_limit must be a number or a string"),
        ({"rate_limit": "soon"}, "rate_limit"),
        ({"template_hint": "a\0"}, "template_hint has a NUL character"),
    ],
)
def test_wrong_settings_are_refused_in_the_words_of_the_contract(sent: dict[str, Any], text: str):
    with pytest.raises(InvalidRequest) as caught:
        read(**sent)
    assert text in IntervalFormat().invalid_text(caught.value)


def test_sent_settings_replace_stored_ones_and_null_is_kept():
    stored = '{"max_depth":2,"rate_limit":"5s","selectors":{"a":1},"other":true}'
    merged = json.loads(merge_settings(stored, read(max_depth=3, selectors=None, rate_limit=10, rules={})))
    assert merged == {"max_depth": 3, "rate_limit": "10", "selectors": None, "other": True, "rules": {}}
    assert json.loads(merge_settings(stored, read(rate_limit=None))) == json.loads(stored)


def test_the_settings_of_a_feed_have_the_names_of_the_model():
    assert read().feed() == {}
    assert read(feed_url="", ingestion_mode="spider").feed() == {"feed_url": None, "feed_wanted": False}
    sent = read(feed_url="https://A.example/feed", ingestion_mode="both", feed_poll_interval_minutes=15)
    assert sent.feed() == {"feed_url": "https://a.example/feed", "feed_wanted": True, "feed_every_ms": 900_000}


def test_stored_values_of_other_types_are_left_out():
    found = stored_settings('{"max_depth": "2", "type": "blog", "time": "noon", "rules": null, "other": 1}')
    assert (found.max_depth, found.type, found.time, found.rules) == (UNSET, "blog", UNSET, None)
