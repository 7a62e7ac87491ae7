"""The parsers of the library within bounds."""

import time

import pytest

from longline.model.feeds.feed import NotAFeed
from longline.parsers.feeds import xmlfeed
from longline.parsers.feeds.xmlfeed import MAX_AUTHOR_CHARS, read_xml

ITEM = "<rss version='2.0'><channel><item>{}</item></channel></rss>"


def test_a_well_formed_document_has_no_flaw() -> None:
    made, flaw = read_xml(ITEM.format("<title>x</title>").encode(), "", "")

    assert (made["version"], made["entries"][0]["title"], flaw) == ("rss20", "x", None)


@pytest.mark.parametrize(
    ("document", "flaw"),
    [
        ("<rss version='2.0'><channel><item><title>x</title>", "line 2: no element found"),
        ("<rss version='2.0'><channel><item><title>x</title><a:b/></item></channel></rss>", "unbound prefix"),
    ],
)
def test_a_malformed_document_is_read_loosely(document: str, flaw: str) -> None:
    made, told = read_xml(document.encode(), "", "")

    assert made["entries"][0]["title"] == "x"
    assert told is not None
    assert flaw in told


def test_a_very_long_author_is_cut() -> None:
    began = time.thread_time()

    made, _ = read_xml(ITEM.format(f"<author>{'1' * 50_000}</author>").encode(), "", "")

    assert len(made["entries"][0]["author"]) == MAX_AUTHOR_CHARS
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    "body",
    [
        b"\n" * 20_000 + b"<rss/>",
        b"<?xml " + b"encoding='" * 20_000,
        b"text " * 2000 + b"<rss/>",
    ],
)
def test_hostile_documents_are_refused_quickly(body: bytes) -> None:
    began = time.thread_time()

    with pytest.raises(NotAFeed):
        read_xml(body, "", "")

    assert time.thread_time() - began < 5


@pytest.mark.parametrize("document", [ITEM.format("<a/>" * 1000), "<rss><channel>" + "<item>" * 1000])
def test_reading_stops_at_the_time_limit(document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xmlfeed, "MAX_SECONDS", 0.001)

    with pytest.raises(NotAFeed, match="seconds to read"):
        read_xml(document.encode(), "", "")
