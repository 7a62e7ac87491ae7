"""JSON Feed, both versions."""

from pathlib import Path

import pytest

from longline.model.feeds.feed import Enclosure, Feed, NotAFeed
from longline.parsers.feeds.jsonfeed import read_json_feed

FEEDS = Path(__file__).parent / "feeds"
HERE = "https://harbour.example/news/feed.json"


def read(name: str) -> Feed:
    return read_json_feed((FEEDS / name).read_bytes(), HERE)


def test_version_one() -> None:
    found = read("jsonfeed10.json")
    second, first = found.entries

    assert (found.link, found.url, found.authors) == (
        "https://harbour.example/",
        "https://harbour.example/feed.json",
        ("The Quay",),
    )
    assert (second.id, second.content, second.published) == ("2", "Second.", 1265569440000)
    assert first.url == first.id == "https://harbour.example/1"
    assert first.content == '<p>First, <a href="https://harbour.example/x">x</a></p>'
    assert first.categories == ("ships", "tides")


def test_version_one_point_one() -> None:
    found = read("jsonfeed11.json")
    (entry,) = found.entries

    assert (found.description, found.language, found.hub) == ("News from the quay", "en", "https://hub.example/")
    assert found.image == "https://harbour.example/icon.png"
    assert (entry.title, entry.summary, entry.language) == ("Ferry late", "It was late.", "en")
    assert entry.authors == ("A. Mate", "https://cook.example/")
    assert entry.images == ("https://harbour.example/i.png",)
    assert (entry.published, entry.updated) == (1596800676000, None)
    assert entry.enclosures == (Enclosure("https://harbour.example/sound.m4a", "audio/x-m4a", 89970236),)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"7",
        b"{}",
        b'{"version": "https://jsonfeed.org/"}',
        b'{"version": "1.0"}',
        b'{"version": "1.0.3", "items": []}',
        b'{"version": ["https://jsonfeed.org/version/1"]}',
        b"[" * 100_000,
        b'{"version": "https://jsonfeed.org/version/1", "items": [}',
    ],
)
def test_json_that_is_no_feed_is_refused(body: bytes) -> None:
    with pytest.raises(NotAFeed):
        read_json_feed(body)


@pytest.mark.parametrize(
    "items", ["null", "{}", "[null]", '[{"attachments": [1, {"url": 3}], "authors": {}, "id": {}}]']
)
def test_values_of_other_types_are_ignored(items: str) -> None:
    found = read_json_feed(
        b'\xef\xbb\xbf{"version": "https://jsonfeed.org/version/1.1", "items": %s}' % items.encode(), HERE
    )

    assert all(entry.url is None for entry in found.entries)


def test_a_list_of_items_needs_only_a_version_number() -> None:
    found = read_json_feed(b'{"version": "1.1", "items": [{"url": "/1", "date_published": "Thu, 01 Jan 2004"}]}', HERE)

    assert (found.kind, found.version) == ("json", "1.1")
    assert (found.entries[0].url, found.entries[0].published) == ("https://harbour.example/1", 1072915200000)
