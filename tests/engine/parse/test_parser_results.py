"""Results of a parser: links, reasons and titles, within their limits."""

import pytest

from longline.engine.parse.parser_results import MAX_REASONS
from longline.plugins import Item, Link, Links, Page, Refused, parser
from tests.engine.parse.test_page_parser import a_page, parser_of


async def test_links_of_the_same_depth_are_kept_apart():
    @parser("listing", match="https://a.example/one")
    def listing(page):
        yield Link("https://a.example/1", deeper=False)
        yield Link("https://a.example/2")

    got = await parser_of(listing).parse(a_page())
    assert (got.links, got.beside) == (("https://a.example/2",), ("https://a.example/1",))


async def test_links_may_be_yielded_one_by_one_or_together():
    @parser("listing", match="https://a.example/one")
    def listing(page):
        yield Links(["https://a.example/1", "https://a.example/2"])
        yield Link("https://a.example/3", priority=2)
        yield Links(("https://a.example/4",))

    got = await parser_of(listing).parse(a_page())
    assert got.links == tuple(f"https://a.example/{number}" for number in (1, 2, 3, 4))
    assert got.priorities == {"https://a.example/3": 2}


async def test_refused_links_are_kept_by_reason():
    @parser("picky", match="https://a.example/one")
    def picky(page):
        yield Links(["https://a.example/1"])
        yield Refused("sold_out", ["https://a.example/2", "https://a.example/3"])
        yield Refused("sold_out", ["https://a.example/4"])
        for number in range(30):
            yield Refused(f"reason_{number}", ["https://a.example/5"])
        yield Refused("empty")

    got = await parser_of(picky).parse(a_page())
    assert got.links == ("https://a.example/1",)
    assert got.refused["sold_out"] == tuple(f"https://a.example/{number}" for number in (2, 3, 4))
    assert (len(got.refused), got.without_item, got.items) == (MAX_REASONS, "empty", ())
    assert got.found[:3] == ("https://a.example/1", "https://a.example/2", "https://a.example/3")


async def test_the_first_title_is_the_title_of_the_page():
    @parser("titles")
    def titles(page: Page):
        yield Item("thing", title="")
        yield Item("thing", other=1)
        yield Item("thing", title=42)
        yield Item("thing", title="later")

    got = await parser_of(titles).parse(a_page())
    assert (got.title, len(got.items)) == ("42", 4)


@pytest.mark.parametrize(("title", "kept"), [("a\x00b", "ab"), ("half \ud83d a smile", "half ? a smile"), ("é", "é")])
async def test_characters_that_cannot_be_stored_are_removed_from_a_title(title: str, kept: str):
    @parser("titles")
    def titles(page: Page):
        yield Item("thing", title=title)

    assert (await parser_of(titles).parse(a_page())).title == kept
