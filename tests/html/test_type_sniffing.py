"""The kind of a document, by its first bytes."""

import time

import pytest

from longline.html.type_sniffing import is_json, root_of


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("<rss>", "rss"),
        ("<RSS version='2.0'>", "rss"),
        ("<rdf:RDF xmlns:rdf='x'>", "rdf"),
        ("\n \t<?xml version='1.0'?>\n<!-- <html> -->\n<urlset>", "urlset"),
        ("<!DOCTYPE rss PUBLIC '-//N//DTD' 'http://x/y.dtd'><rss>", "rss"),
        ("<!DOCTYPE a [ <!ENTITY b '<c>'> ]><a>", "a"),
        ("<?xml-stylesheet href='a?b'?><feed>", "feed"),
        ("<!doctype html><html>", "html"),
        ("text <rss>", ""),
        ("", ""),
        ("<!-- for ever", ""),
        ("{}", ""),
    ],
)
def test_the_first_element(text: str, root: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be"):
        assert root_of(text.encode(encoding)) == root


@pytest.mark.parametrize("piece", [b"<!--", b"<?", b"<!a", b"<!a[", b"<!a<", b" ", b"<!a <b>", b"-", b"[", b"]"])
def test_no_beginning_takes_long(piece: bytes) -> None:
    began = time.thread_time()  # the time of this thread alone

    root_of(piece * 10_000)

    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    ("body", "wanted"), [(b' {"a": 1}', True), (b"\xef\xbb\xbf{", True), (b"[", False), (b"", False)]
)
def test_json(body: bytes, wanted: bool) -> None:
    assert is_json(body) is wanted
