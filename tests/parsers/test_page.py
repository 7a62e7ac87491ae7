"""The built-in parser on real HTML."""

from typing import Any

import pytest

import longline.parsers.page
from longline.parsers.page import PageExtract, extract
from longline.plugins import Item, Links, Page
from longline.plugins.registry import Registry
from tests.web.pages import page as site_page

HERE = "https://example.com/dir/page?x=1"


def links(markup: str, content_type: str = "text/html; charset=utf-8") -> list[str]:
    return extract(Page(HERE, markup.encode(), content_type=content_type)).links


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a href="a">', ["https://example.com/dir/a"]),
        ("<a href=a>", ["https://example.com/dir/a"]),
        ("<A HREF='../a'>", ["https://example.com/a"]),
        ('<a href="//cdn.example/a">', ["https://cdn.example/a"]),
        ('<a href="?y=2">', ["https://example.com/dir/page?y=2"]),
        ('<a href=" \n a\t ">', ["https://example.com/dir/a"]),
        ('<a href="a\nb">', ["https://example.com/dir/ab"]),
        ('<a href="a b">', ["https://example.com/dir/a%20b"]),
        ('<a href="">', ["https://example.com/dir/page?x=1"]),
        ('<a href="#part">', ["https://example.com/dir/page?x=1"]),
        ("<a href>", []),
        ("<a>", []),
        ("<a name=x>", []),
        ('<a href="a&amp;b">', ["https://example.com/dir/a&b"]),
        ('<a href="?a=1&copy=2">', ["https://example.com/dir/page?a=1&copy=2"]),
        ('<a href="/%7Ejoe/%e9">', ["https://example.com/%7Ejoe/%e9"]),
        ('<a href="ü">', ["https://example.com/dir/%C3%BC"]),
        ('<a href="https://bücher.example">', ["https://xn--bcher-kva.example/"]),
        ('<a href="\\\\other.example\\a">', ["https://other.example/a"]),
        (
            '<map><area href="a"><area href="b" nohref></map>',
            ["https://example.com/dir/a", "https://example.com/dir/b"],
        ),
        ('<a href="a">1<a href="b">2<a href="a#x">3', ["https://example.com/dir/a", "https://example.com/dir/b"]),
        ('<a href="./a"><a href="a"><a href="/dir/a">', ["https://example.com/dir/a"]),
        ('<a rel="nofollow" href="a"><a href="b">', ["https://example.com/dir/b"]),
        ('<a rel="external NoFollow ugc" href="a">', []),
        ('<area rel="nofollow" href="a">', []),
        ('<a rel="nofollower" href="a">', ["https://example.com/dir/a"]),
        ('<a href="mailto:a@b"><a href="javascript:x()"><a href="tel:1"><a href="data:,x"><a href="ftp://x/">', []),
        ('<a href="JAVASCRIPT:x()"><a href="http://"><a href="http://[::1">', []),
        (
            '<!-- <a href="a"> --><script>"<a href=b>"</script><noscript><a href="c"></noscript>',
            ["https://example.com/dir/c"],
        ),
        ('<base href="/base/"><a href="a">', ["https://example.com/base/a"]),
        ('<a href="a"><base href="https://other.example/">', ["https://other.example/a"]),
        ('<link rel="stylesheet" href="style.css"><img src="x.png"><form action="/f">', []),
        ("", []),
    ],
)
def test_links(markup, expected):
    assert links(markup) == expected


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title>Plain</title>", "Plain"),
        ("<title>\n Two\n lines </title>", "Two lines"),
        ("<title>A &amp; B</title>", "A & B"),
        ("<title></title>", ""),
        ("<p>none", ""),
        ("<title>first</title><title>second</title>", "first"),
        ("<title>a<b>c", "a<b>c"),
    ],
)
def test_titles(markup, title):
    assert extract(Page(HERE, markup.encode())).title == title


def test_a_page_that_is_not_utf8():
    body = "<title>Größe</title><a href='größe'>x</a>".encode("latin-1")
    assert extract(Page(HERE, body, content_type="text/html; charset=iso-8859-1")) == PageExtract(
        "Größe", ["https://example.com/dir/gr%C3%B6%C3%9Fe"]
    )


def test_a_page_of_the_test_site():
    found = extract(Page("http://127.0.0.1:8000/", site_page(0, 10, "http://127.0.0.1:8000")))
    assert found.title == "Page 0"
    assert found.links == [
        *(f"http://127.0.0.1:8000/page/{child}" for child in (1, 2, 3)),
        "http://127.0.0.1:8000/",
        "http://127.0.0.1:8000/private/0",
        "http://off-site.example/from/0",
    ]


async def test_as_a_parser():
    registry = Registry(longline.parsers.page)
    found = registry.parser_for(Page(HERE, b"", content_type="text/html"))
    assert found
    assert found.name == "page"
    made = [one async for one in found.parse(Page(HERE, b"<title>T</title><a href=a><a href=b>"))]
    assert made == [
        Item("page", title="T", url=HERE, text=""),
        Links(["https://example.com/dir/a", "https://example.com/dir/b"]),
    ]
    assert registry.parser_for(Page(HERE, b"", content_type="application/pdf")) is None


async def fields(markup: bytes) -> dict[str, Any]:
    (item,) = [one for one in longline.parsers.page.page(Page(HERE, markup)) if isinstance(one, Item)]
    return item.fields


async def test_the_text_has_every_visible_word_and_no_other():
    made = await fields(
        b"<title>T</title><body><nav>Menu</nav><script>no()</script><style>p{}</style><p>One<b>two</b></p><p>three"
        b"<noscript>never</noscript>"
    )
    assert made["text"] == "Menu One two three"


async def test_a_missing_page_has_no_text():
    made = await fields(b"<meta name=robots content=noindex><title>T</title><p>Secret")
    assert (made["title"], made["noindex"], "text" in made) == ("T", True, False)
