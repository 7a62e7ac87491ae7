"""Escaped text, and destinations of links."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from longline.html.article_text.inline_markdown import (
    MAX_ALL_URLS_CHARS,
    MAX_URL_CHARS,
    UrlResolver,
    escape,
    escape_line_starts,
)

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def tokens(made: str) -> list[Token]:
    found = READER.parse(made)
    return [*found, *(inside for token in found for inside in token.children or ())]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1))
@example("1234567890. a")
@example("123456789. a")
@example("a_b__c _d")
@example("&#1234567;&copy;")
def test_an_escaped_text_is_a_paragraph_of_that_text(text):
    made = tokens(escape_line_starts(escape(text)))
    assert [token.type for token in made if token.block] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(token.content for token in made if not token.block) == text


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/b", "https://n.example/b"),
        (" c?d=1#e ", "https://n.example/a/c?d=1#e"),
        ("//o.example", "https://o.example/"),
        ("#e", None),
        ("", None),
        ("ftp://a.example/", None),
        ("data:text/html,x", None),
        ("b#e f", "https://n.example/a/b"),
    ],
)
def test_a_destination_is_absolute(href, url):
    assert UrlResolver("https://n.example/a/").destination(href) == url


@given(st.text(max_size=60))
@example("javascript:alert(1)")
@example("https://a.example/)[x](y")
@example("//a.example/<b>?`a`|&copy;\\")
def test_a_destination_is_one_absolute_url(href):
    url = UrlResolver("https://n.example/").destination(href)
    if url is not None:
        found = [token for token in tokens(f"a [b]({url}) c") if token.type == "link_open"]
        assert len(found) == 1
        assert str(found[0].attrs["href"]).startswith(("https://", "http://"))


def test_long_urls_are_left_out():
    assert UrlResolver("https://n.example/").destination("x" * MAX_URL_CHARS) is None
    urls = UrlResolver("https://n.example/")
    made = [urls.destination(f"{number}{'x' * 1000}") for number in range(2 * MAX_ALL_URLS_CHARS // 1000)]
    assert sum(len(url) for url in made if url) <= MAX_ALL_URLS_CHARS
    assert made[0] is not None
    assert made[-1] is None
