"""The place of the content in a page."""

import pytest

from longline.parsers.page_content import PageContent, densest, extract, select, select_all, text_of
from longline.plugins import Page

LONG = "Words that fill a block of text so that it counts as one. " * 6


def found(markup: str, url: str = "https://n.example/x", hint: str = "", **selectors: object) -> PageContent:
    return extract(Page(url, markup.encode()), selectors, hint)


def test_selectors_come_first():
    markup = "<h1 class=t>Title</h1><article>no</article><div id=c><p>One</p><p class=ad>Buy</p><i>two</i></div>"
    got = found(markup, container="#c", title=".t", exclude=[".ad", "((("])
    assert (got.method, got.title, got.text) == ("selector", "Title", "One\ntwo")
    assert "<p>One</p>" in got.markup
    assert found(markup, container="#c", body="i").text == "two"
    for none in (".none", "((("):
        looks = found(markup, body=none, title=".t")
        assert (looks.method, looks.title) == ("heuristic", "Title"), (
            "the heuristic decides if the selectors find nothing"
        )
        assert "One" in looks.text


def test_the_search_for_the_content_changes_no_element():
    page = Page("https://n.example/x", b"<div id=c><p class=ad>Buy</p></div><nav>menu</nav>")
    extract(page, {"exclude": [".ad"]})
    assert page.css(".ad")
    assert page.css("nav")


@pytest.mark.parametrize(
    ("markup", "starts"),
    [
        (f"<main>{LONG}</main><article>short</article>", "<main"),
        (f"<div class=content>{LONG}</div>", '<div class="content"'),
        (f"<div role=main>{LONG}</div>", '<div role="main"'),
        (f"<div class=sidebar>{LONG * 3}</div><div id=x>{LONG}</div>", '<div id="x"'),
        ("<div>few</div><nav>menu</nav>", "<body"),
    ],
)
def test_by_heuristic(markup, starts):
    got = found(markup)
    assert got.method == "heuristic"
    assert got.markup.startswith(starts)


def test_the_densest_block_is_the_inner_one_with_nearly_all_of_the_text():
    inner = f"<div id=outer><div id=links><a href=x>{LONG}</a></div><section id=inner>{LONG * 4}</section>more</div>"
    node = densest(Page("https://n.example/", inner.encode()).tree)
    assert node is not None
    assert node.attributes["id"] == "inner"
    assert densest(Page("https://n.example/", b"<div>few</div>").tree) is None


def test_invalid_selectors_of_a_config_raise_nothing():
    tree = Page("https://n.example/", b"<p>a</p><meta name=x content=y><time datetime=z>then</time>").tree
    assert [select(tree, bad) for bad in ("((", "", None, 5, "none")] == [None] * 5
    assert select_all(tree, "((") == []
    assert [text_of(select(tree, css)) for css in ("p", "meta", "time", "none")] == ["a", "y", "z", ""]
