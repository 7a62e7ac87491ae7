"""Lists that change while they are read, or have no end, and sources in foreign formats."""

import msgspec
import pytest

from longline.engine.sources.remote_source_reader import listing, read_source
from longline.model.duration import MINUTE_MS
from longline.model.errors import Unavailable
from longline.model.feeds.feed_poll import POLL_INTERVAL_MS
from longline.model.sources.remote_source import MAX_PAGES
from longline.ports.sources import Described, ListedSource

SIZE = 3


class Book:
    """A list in pages of three; `turn` changes it after each page."""

    def __init__(self, *refs: str) -> None:
        self.refs, self.asked = list(refs), 0

    async def page(self, number: int) -> ListedSource:
        self.asked += 1
        shown = self.refs[(number - 1) * SIZE : number * SIZE]
        listed = ListedSource([{"id": ref} for ref in shown], len(self.refs), -(-len(self.refs) // SIZE))
        self.turn()
        return listed

    def turn(self) -> None:
        pass


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7])
async def test_every_page_is_read_and_no_other(size: int) -> None:
    book = Book(*(f"s{n}" for n in range(size)))
    found, whole = await listing(book.page)
    assert (list(found), whole) == (book.refs, True)
    assert book.asked == max(1, -(-size // SIZE))


async def test_a_source_removed_meanwhile_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book(*"abcdefg")
    monkeypatch.setattr(book, "turn", lambda: book.refs.remove("a") if "a" in book.refs else None)
    assert (await listing(book.page)).whole is False, "as many sources as before, but one was skipped"
    book = Book(*"abcdefgh")
    monkeypatch.setattr(book, "turn", lambda: book.refs.pop(0) if len(book.refs) > 6 else None)
    found, whole = await listing(book.page)
    assert (sorted(found), whole) == (list("abcefg"), False)


async def test_a_list_with_a_wrong_number_of_pages_is_read_to_its_total() -> None:
    async def wrong(number: int) -> ListedSource:
        return ListedSource([{"id": str(number)}] if number < 4 else [], 3, 1)

    assert await listing(wrong) == ({str(n): {"id": str(n)} for n in (1, 2, 3)}, True)


async def test_a_source_added_meanwhile_is_found_or_the_list_is_not_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book(*"abcdef")
    monkeypatch.setattr(book, "turn", lambda: book.refs.append("z") if len(book.refs) < 7 else None)
    assert list((await listing(book.page)).sources) == list("abcdefz")
    book = Book(*"abcdef")
    monkeypatch.setattr(book, "turn", lambda: book.refs.insert(0, "z") if len(book.refs) < 7 else None)
    found, whole = await listing(book.page)
    assert (list(found), whole) == (list("abcdef"), False)


async def test_a_list_that_repeats_itself_is_an_error() -> None:
    book = Book(*"abcdef")

    async def first(_: int) -> ListedSource:
        return await book.page(1)

    with pytest.raises(Unavailable, match="repeats itself"):
        await listing(first)
    assert book.asked == 2


async def test_a_list_without_an_end_is_an_error() -> None:
    asked = []

    async def endless(number: int) -> ListedSource:
        asked.append(number)
        return ListedSource([{"id": str(number)}], 10**9)

    with pytest.raises(Unavailable, match="no end"):
        await listing(endless)
    assert len(asked) == MAX_PAGES


async def test_a_list_without_a_total_is_read_until_an_empty_page() -> None:
    async def silent(number: int) -> ListedSource:
        return ListedSource([{"id": str(number)}] if number < 4 else [])

    assert await listing(silent) == ({str(n): {"id": str(n)} for n in (1, 2, 3)}, True)

    async def paged(number: int) -> ListedSource:
        return ListedSource([{"id": str(number)}], None, 2)

    assert list((await listing(paged)).sources) == ["1", "2"]


async def test_sources_without_an_id_are_skipped() -> None:
    async def odd(_: int) -> ListedSource:
        return ListedSource([{}, {"id": None}, {"id": True}, {"id": "a\0b"}, {"id": ""}, {"id": 17}], 6)

    with pytest.raises(Unavailable, match="repeats itself: 1 sources"):
        await listing(odd)


PLAIN: Described = {"id": "a", "name": "n", "url": "https://a.example/"}


def test_a_plain_source():
    found = read_source(PLAIN)
    assert found is not None
    assert (found.ref, found.name, found.base_url, found.enabled) == ("a", "n", "https://a.example/", True)
    assert (found.feed_url, found.feed_wanted, found.feed_every_ms, found.crawl) == (None, True, POLL_INTERVAL_MS, "{}")
    assert found.feed_listed is True, "the source has no feed that a list could omit"
    assert (found.parser, found.config, found.names_parser) == (None, "{}", False)


def test_a_source_with_every_field():
    more = {
        "enabled": False,
        "disabled_at": "2026-01-02T03:04:05Z",
        "disable_reason": "why",
        "feed_url": "https://a.example/feed",
        "ingestion_mode": "both",
        "feed_poll_interval_minutes": 7,
        "feed_disabled_at": "1970-01-01T00:00:01+00:00",
        "feed_disable_reason": "gone",
        "identity_key": "k",
        "parser": "books",
        "config": {"pages": 2},
        "rate_limit": 10,
        "created_at": "2026-01-02T03:04:05Z",
    }
    found = read_source(PLAIN | more, listed=False)
    assert found is not None
    assert (found.enabled, found.disable_reason, found.feed_every_ms) == (False, "why", 7 * MINUTE_MS)
    assert (found.feed_disabled_at, found.feed_disable_reason, found.feed_listed) == (1000, "gone", False)
    assert msgspec.json.decode(found.crawl) == {"ingestion_mode": "both", "rate_limit": 10}
    assert found.identity_key == "k"
    assert (found.parser, found.config, found.names_parser) == ("books", '{"pages":2}', True)


@pytest.mark.parametrize(("mode", "wanted"), [("feed", True), ("both", True), ("spider", False), (None, True)])
def test_the_feed_of_a_source_in_spider_mode_is_not_polled(mode: str | None, wanted: bool):
    found = read_source(PLAIN | {"ingestion_mode": mode})
    assert found is not None
    assert found.feed_wanted is wanted


@pytest.mark.parametrize(
    "lacking",
    [
        {"id": None},
        {"id": 1.5},
        {"name": ""},
        {"name": 7},
        {"url": "x"},
        {"url": None},
        {"name": "n" * 501},
        {"id": "9" * 501},
    ],
)
def test_an_invalid_source_is_not_read(lacking: Described):
    assert read_source(PLAIN | lacking) is None


def test_fields_of_another_type_are_left_out():
    odd = {"rules": [1], "selectors": "h1", "article_url_patterns": {}, "sitemap_url": 7, "max_depth": "2", "x": [1]}
    found = read_source(PLAIN | odd)
    assert found is not None
    assert msgspec.json.decode(found.crawl) == {"x": [1]}


def test_invalid_values_are_replaced_by_the_defaults():
    odd = {"feed_poll_interval_minutes": 0, "feed_disabled_at": "then", "identity_key": 7, "name": "a\0b", "enabled": 1}
    found = read_source(PLAIN | odd)
    assert found is not None
    assert (found.feed_every_ms, found.feed_disabled_at, found.identity_key) == (POLL_INTERVAL_MS, None, None)
    assert (found.name, found.enabled) == ("ab", True)
    for minutes in (-1, "15", True, 10**12, None, 1.5):
        again = read_source(PLAIN | {"feed_poll_interval_minutes": minutes})
        assert again is not None
        assert again.feed_every_ms == POLL_INTERVAL_MS
    unreadable = read_source(PLAIN | {"feed_url": "no URL"}, listed=True)
    assert unreadable is not None
    assert (unreadable.feed_url, unreadable.feed_listed) == ("no URL", False)


def test_urls_with_a_password_are_left_out():
    secret = "https://anna:pw@a.example/x"
    assert read_source(PLAIN | {"url": secret}) is None
    found = read_source(PLAIN | {"feed_url": secret, "sitemap_url": secret})
    assert found is not None
    assert found.feed_url is None
    assert "pw" not in found.crawl
