import inspect
import re
from types import ModuleType
from typing import Any

import pytest

from longline.engine.parse.page_parser import MAX_REASONS, PageParser, Parsed
from longline.model.errors import BadInput
from longline.parsers import page as built_in
from longline.plugins import Item, Link, Links, Page, Refused, parser
from longline.plugins.parser_errors import shown
from longline.plugins.registry import Registry


def parser_of(*functions: Any) -> PageParser:
    module = ModuleType("mine")
    vars(module).update({f.__name__: f for f in functions})
    return PageParser(Registry(built_in, module))


def a_page(body: bytes = b"<title>One</title><a href=/two>", **more: Any) -> Page:
    return Page("https://a.example/one", body, **({"content_type": "text/html"} | more))


async def test_a_page_gives_its_title_and_its_links():
    got = await parser_of().parse(a_page())
    assert (got.title, got.links, got.error) == ("One", ("https://a.example/two",), None)
    assert [item.kind for item in got.items] == ["page"]


async def test_links_that_lead_no_deeper_are_told_apart():
    @parser("listing", match="https://a.example/one")
    def listing(page):
        yield Link("https://a.example/1", deeper=False)
        yield Link("https://a.example/2")

    got = await parser_of(listing).parse(a_page())
    assert (got.links, got.beside) == (("https://a.example/2",), ("https://a.example/1",))


async def test_links_may_be_named_one_by_one_or_together():
    @parser("listing", match="https://a.example/one")
    def listing(page):
        yield Links(["https://a.example/1", "https://a.example/2"])
        yield Link("https://a.example/3", priority=2)
        yield Links(("https://a.example/4",))

    got = await parser_of(listing).parse(a_page())
    assert got.links == tuple(f"https://a.example/{number}" for number in (1, 2, 3, 4))
    assert got.priorities == {"https://a.example/3": 2}


async def test_what_a_parser_refuses_is_told_by_reason():
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


async def test_a_page_that_no_parser_wants_has_nothing():
    assert await parser_of().parse(a_page(b"%PDF", content_type="application/pdf")) == Parsed()


async def test_a_parser_that_raises_fails_alone_and_says_who_it_was():
    @parser("broken")
    async def broken(page: Page):
        yield Item("page", title="half")
        yield Link("https://a.example/half")
        raise RuntimeError("no\x00good")

    got = await parser_of(broken).parse(a_page())
    line = inspect.getsourcelines(broken)[1] + 4
    assert got == Parsed(error=f"broken: {shown(__file__)}:{line}: RuntimeError('no\\x00good')")


@pytest.mark.parametrize(
    ("nonsense", "remedy"),
    [
        ({"a": 1}, 'dict.*: write yield Item\\("KIND"'),
        ("https://a.example/", "str.*: a link is Link"),
        (5, "int, not Item"),
    ],
)
async def test_a_parser_that_yields_nonsense_fails_alone_and_its_line_is_named(nonsense: Any, remedy: str):
    @parser("odd")
    def odd(page: Page):
        yield Item("fine")
        yield nonsense

    @parser("odd")
    async def odd_too(page: Page):
        yield Item("fine")
        yield nonsense

    for function in (odd, odd_too):
        line = inspect.getsourcelines(function)[1] + 3
        error = str((await parser_of(function).parse(a_page())).error)
        assert re.match(rf"odd: {re.escape(shown(__file__))}:{line}: parser odd yields {remedy}", error), error


async def test_the_first_title_is_the_pages():
    @parser("titles")
    def titles(page: Page):
        yield Item("thing", title="")
        yield Item("thing", other=1)
        yield Item("thing", title=42)
        yield Item("thing", title="later")

    got = await parser_of(titles).parse(a_page())
    assert (got.title, len(got.items)) == ("42", 4)


@pytest.mark.parametrize(("title", "kept"), [("a\x00b", "ab"), ("half \ud83d a smile", "half ? a smile"), ("é", "é")])
async def test_a_title_can_be_stored_whatever_a_parser_makes_of_it(title: str, kept: str):
    @parser("titles")
    def titles(page: Page):
        yield Item("thing", title=title)

    assert (await parser_of(titles).parse(a_page())).title == kept


async def test_a_source_may_ask_for_a_parser_by_name():
    @parser("mine", match=())
    def mine(page: Page):
        yield Item("mine", title=page.config["word"])

    got = await parser_of(mine).parse(a_page(config={"parser": "mine", "word": "W"}))
    assert got.title == "W"
    assert (await parser_of(mine).parse(a_page())).title == "One"
    lost = (await parser_of().parse(a_page(config={"parser": "mine"}))).error
    assert str(lost).startswith("there is no parser 'mine'; loaded are page.")


def test_a_parser_that_is_not_there_is_told_of_beforehand():
    parser_of().check({})
    parser_of().check({"parser": "page"})
    with pytest.raises(BadInput, match="there is no parser 'pgae'; loaded are page"):
        parser_of().check({"parser": "pgae"})
