import inspect
import re
from types import ModuleType
from typing import Any

import pytest

from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.parser_results import Parsed
from longline.model.errors import BadInput
from longline.parsers import page as built_in
from longline.plugins import Item, Link, Page, parser
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


async def test_a_page_without_a_parser_has_no_result():
    assert await parser_of().parse(a_page(b"%PDF", content_type="application/pdf")) == Parsed()


async def test_a_parser_that_raises_fails_alone_and_its_line_is_named():
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


async def test_a_source_may_name_its_parser():
    @parser("mine", match=())
    def mine(page: Page):
        yield Item("mine", title=page.config["word"])

    got = await parser_of(mine).parse(a_page(config={"parser": "mine", "word": "W"}))
    assert got.title == "W"
    assert (await parser_of(mine).parse(a_page())).title == "One"
    lost = (await parser_of().parse(a_page(config={"parser": "mine"}))).error
    assert str(lost).startswith("there is no parser 'mine'; loaded are page.")


def test_an_unknown_parser_is_refused_beforehand():
    parser_of().check({})
    parser_of().check({"parser": "page"})
    with pytest.raises(BadInput, match="there is no parser 'pgae'; loaded are page"):
        parser_of().check({"parser": "pgae"})
