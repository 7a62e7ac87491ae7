"""The ten-line parser, and functions that the decorator refuses."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from longline.plugins import Item, Link, Page, parser
from longline.plugins.parser import PARSER_ATTRIBUTE, Made, Parser


@parser("my-news", match="https://news.example/*")
async def article(page: Page):
    yield Item("article", title=page.text("h1"), body=page.article(), url=page.url)
    for href in page.links("a.related"):
        yield Link(href, priority=1)


@parser("plain", match=("https://a.example/*", "https://b.example/[x]?id=*"), types=("text/plain",))
def plain(page: Page) -> Iterator[Item | Link]:
    yield Item("text", body=page.html)


def marked(function: Any) -> Parser:
    mark = getattr(function, PARSER_ATTRIBUTE)
    assert isinstance(mark, Parser)
    return mark


async def made_of(function: Any, page: Page) -> list[Made]:
    return [one async for one in marked(function).parse(page)]


async def test_the_ten_lines():
    page = Page("https://news.example/story", b"<h1>Catch</h1><p>Text</p><a class=related href=more>More</a>")
    assert await made_of(article, page) == [
        Item("article", title="Catch", body="Text\nMore", url="https://news.example/story"),
        Link("https://news.example/more", priority=1),
    ]


async def test_a_plain_generator_is_a_parser():
    assert await made_of(plain, Page("https://a.example/", b"text")) == [Item("text", body="text")]


async def test_a_value_that_is_neither_item_nor_link_is_refused():
    @parser("wrong")
    def wrong(page: Page) -> Iterator[Any]:
        yield Item("fine")
        yield {"title": page.title}

    with pytest.raises(TypeError, match="parser wrong yields dict"):
        await made_of(wrong, Page("https://a.example/", b""))


async def test_items_before_an_exception_of_the_parser_are_kept():
    @parser("raises")
    async def raises(page: Page) -> AsyncIterator[Item]:
        yield Item("first", url=page.url)
        raise RuntimeError("broken")

    making = marked(raises).parse(Page("https://a.example/", b""))
    assert await anext(making) == Item("first", url="https://a.example/")
    with pytest.raises(RuntimeError, match="broken"):
        await anext(making)


def test_a_function_that_yields_nothing_is_no_parser():
    with pytest.raises(TypeError, match="must yield"):

        @parser("returns")
        def returns(page: Page) -> list[Item]:
            return [Item("page", url=page.url)]


def test_a_function_with_a_config_names_its_type():
    with pytest.raises(TypeError, match=r"takes a config: name its type, as in @parser\('shop', config=dict\)"):

        @parser("shop")
        def shop(page: Page, config: dict[str, Any]) -> Iterator[Item]:
            yield Item("page", **config)


def test_the_decorator_returns_the_function_unchanged():
    def function(page: Page) -> Iterator[Item]:
        yield Item("page", url=page.url)

    assert parser("same")(function) is function


@pytest.mark.parametrize(
    ("url", "content_type", "fit"),
    [
        ("https://news.example/a/b?c", "text/html", 21),
        ("https://news.example/a/b?c", "Text/HTML; charset=utf-8", 21),
        ("https://news.example/a/b?c", "application/xhtml+xml", 21),
        ("https://news.example/", "", 21),
        ("https://news.example/", "text/plain", None),
        ("https://news.example", "text/html", None),
        ("http://news.example/", "text/html", None),
        ("https://newsXexample/", "text/html", None),
        ("https://other.example/?https://news.example/", "text/html", None),
    ],
)
def test_fit(url, content_type, fit):
    assert marked(article).fit(Page(url, b"", content_type=content_type)) == fit


def test_only_the_star_of_a_pattern_is_special():
    def fits(url: str, content_type: str) -> int | None:
        return marked(plain).fit(Page(url, b"", content_type=content_type))

    assert fits("https://b.example/[x]?id=1", "text/plain") == len("https://b.example/[x]?id=")
    assert fits("https://b.example/x?id=1", "text/plain") is None
    assert fits("https://b.example/[x]/id=1", "text/plain") is None


def test_a_parser_may_accept_any_content_type():
    @parser("all", types=("*",))
    def everything(page: Page) -> Iterator[Item]:
        yield Item("page", url=page.url)

    assert marked(everything).fit(Page("https://a.example/x.pdf", b"", content_type="application/pdf")) == 0
