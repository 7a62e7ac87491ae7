"""The choice of a parser for a page."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.plugins import Item, Page, parser
from longline.plugins.registry import ParserSources, Registry, no_parser


def module(name: str, **parsers: str) -> ModuleType:
    """Return a module with a parser of each name for each pattern."""
    made = ModuleType(name)
    for called, match in parsers.items():

        @parser(called, match=match)
        def function(page: Page) -> Iterator[Item]:
            yield Item("page", url=page.url)

        setattr(made, called, function)
    return made


def chosen(registry: Registry, url: str, content_type: str = "text/html") -> str | None:
    found = registry.parser_for(Page(url, b"", content_type=content_type))
    return found.name if found else None


OURS = module("ours", page="*")


def test_the_closest_pattern_wins_in_any_order():
    near = module("near", site="https://a.example/*", part="https://a.example/part/*")
    for modules in ((OURS, near), (near, OURS)):
        registry = Registry(*modules)
        assert chosen(registry, "https://a.example/part/x") == "part"
        assert chosen(registry, "https://a.example/x") == "site"
        assert chosen(registry, "https://b.example/x") == "page"


def test_the_latest_of_equals_wins():
    assert chosen(Registry(OURS, module("theirs", mine="*")), "https://a.example/") == "mine"


def test_a_content_type_without_a_parser_has_none():
    assert chosen(Registry(OURS), "https://a.example/", "image/png") is None
    assert chosen(Registry(), "https://a.example/") is None


def test_a_parser_may_inspect_the_page_first():
    made = ModuleType("looking")

    @parser("feed", types=("*",), when=lambda page: page.body.startswith(b"<rss"))
    def feed(page: Page) -> Iterator[Item]:
        yield Item("feed", url=page.url)

    made.feed = feed  # type: ignore[attr-defined]  # a module made by hand
    registry = Registry(OURS, made)
    for body, wanted in ((b"<rss>", "feed"), (b"<html>", "page")):
        found = registry.parser_for(Page("https://a.example/", body, content_type="text/html"))
        assert found
        assert found.name == wanted
    assert registry.parser_for(Page("https://a.example/", b"x", content_type="image/png")) is None


def test_a_scan_returns_its_parsers_and_may_be_repeated():
    registry = Registry()
    assert [found.name for found in registry.scan(OURS)] == ["page"]
    assert [found.name for found in registry.scan(OURS)] == ["page"]
    borrowed: Any = ModuleType("borrowed")
    borrowed.page, borrowed.other = vars(OURS)["page"], "something else"
    registry.scan(borrowed)
    assert [found.name for found in registry.parsers] == ["page"]


def test_two_parsers_may_not_share_a_name():
    with pytest.raises(
        BadInput, match=r"two parsers are called 'page': .*test_registry.py:\d+ and .*test_registry.py:\d+; rename one"
    ):
        Registry(OURS, module("theirs", page="https://a.example/*"))


def test_registries_are_independent():
    assert Registry(OURS).parsers
    assert Registry().parsers == ()


def test_by_name():
    registry = Registry(OURS)
    assert registry.named("page") is registry.parsers[0]
    assert registry.named("nobody") is None


def test_a_parser_without_a_pattern_is_found_by_name_only():
    @parser("asked-for", match=())
    def function(page: Page) -> Iterator[Item]:
        yield Item("page", url=page.url)

    made: Any = ModuleType("made")
    made.function = function
    registry = Registry(made)
    assert registry.named("asked-for")
    assert chosen(registry, "https://a.example/") is None


MINE = """
from longline.plugins import Item, parser
@parser("mine", match="https://mine.example/*")
def mine(page):
    yield Item("mine", url=page.url)
"""


def test_a_shelf_opens_modules_and_files(tmp_path: Path):
    (tmp_path / "mine.py").write_text(MINE)
    registry = ParserSources(("longline.parsers.page",), (str(tmp_path / "mine.py"),)).open()
    assert [found.name for found in registry.parsers] == ["page", "mine"]
    assert chosen(registry, "https://mine.example/x") == "mine"


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("none.py", None, "there is no file /.*/none.py"),
        ("words.txt", "words", "words.txt is no Python file"),
        ("broken.py", "def", r"broken.py cannot be loaded: .*broken.py:1: SyntaxError: invalid syntax"),
        (
            "raises.py",
            "x = 1\n1 / 0",
            r"raises.py cannot be loaded: .*raises.py:2: ZeroDivisionError\('division by zero'\)",
        ),
        ("deep.py", "import json\n\njson.loads('[')", "deep.py cannot be loaded: .*deep.py:3: JSONDecodeError"),
        ("empty.py", "x = 1", "there is no parser, session or sink in .*empty.py; mark a function with @parser"),
        ("twice.py", MINE.replace('"mine"', '"page"'), "two parsers are called 'page'"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: str | None, error: str):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=error):
        ParserSources(("longline.parsers.page",), (str(tmp_path / name),)).open()


def test_the_last_resort_parses_pages_that_only_the_default_parser_accepts():
    own = module("own", book="https://shop.example/book/*")
    ours = module("ours", page="*", article="nowhere:*")
    registry = Registry(ours)
    registry.scan(own, custom=True)

    def taken(url: str, last_resort: str) -> str | None:
        found = registry.parser_for(Page(url, b"", content_type="text/html"), last_resort)
        return found.name if found else None

    assert taken("https://shop.example/book/1", "article") == "book"
    assert taken("https://shop.example/", "article") == "article"
    assert taken("https://shop.example/", "page") == "page"
    registry.scan(module("all", everything="*"), custom=True)
    assert taken("https://shop.example/", "article") == "everything", "an own parser of all pages comes first"


def test_content_types_that_a_run_accepts():
    html = ("text/html", "application/xhtml+xml")
    made: Any = ModuleType("made")

    @parser("json", match=(), types=("application/json",))
    def json(page: Page) -> Iterator[Item]:
        yield Item("json", url=page.url)

    made.json = json
    registry = Registry(OURS)
    assert registry.content_types() == registry.content_types("page") == html
    registry.scan(made, custom=True)
    assert registry.content_types() == (*html, "application/json")
    assert registry.content_types("json") == ("application/json",)
    assert ParserSources(("longline.parsers.feeds.feed",)).open().content_types("feed") == (), "any"


def test_a_file_given_as_a_parser_is_refused_with_a_hint_at_the_flag_for_files():
    assert no_parser("books.py", ["page"]).endswith("To load the parsers of a file: --parsers books.py")
    assert no_parser("books", ["page"]).endswith("The setting parsers names the files or modules to load")
