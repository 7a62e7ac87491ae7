"""Extensions: marked classes with two parsers, and the items that they yield."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

import pytest

from longline.model.errors import BadInput
from longline.plugins import Item, Page, chapter, extension, series
from longline.plugins.extension import EXTENSION_ATTRIBUTE
from longline.plugins.parser_errors import ParserMistake
from longline.plugins.registry import Registry


def made(name: Any = "com.example.site", **parts: Any) -> type:
    def discover(page: Page):
        yield series("c1", "Comic", f"{page.url}c1")

    def crawl(page: Page):
        yield chapter(page.url, 1)

    return extension(name)(type("Site", (), {"discover": discover, "crawl": crawl} | parts))


def module(*things: type) -> ModuleType:
    found = ModuleType("planted")
    for number, thing in enumerate(things):
        setattr(found, f"thing{number}", thing)
    return found


def test_an_extension_is_registered_with_its_parsers():
    registry = Registry(module(made()))
    assert list(registry.extensions) == ["com.example.site"]
    assert registry.names == ()
    assert registry.named("com.example.site/crawl") is not None
    page = Page("https://site.example/", b"<p>")
    found = next(iter(cast(Iterator[Item], registry.extensions["com.example.site"].discover.results(page))))
    assert (found.kind, found.key, found.fields["link"]) == ("series", "c1", "https://site.example/c1")


def test_parsers_of_extensions_match_no_page():
    assert Registry(module(made())).parser_for(Page("https://site.example/", b"<p>")) is None


@pytest.mark.parametrize("name", ["", "site", "com..example", 7])
def test_a_name_is_a_reverse_domain(name: Any):
    with pytest.raises(ParserMistake, match="reverse domain"):
        made(name)


@pytest.mark.parametrize("part", ["discover", "crawl"])
def test_both_functions_must_yield(part: str):
    with pytest.raises(ParserMistake, match=part):
        made(**{part: str})


def test_two_extensions_of_one_name_are_refused():
    with pytest.raises(BadInput, match="two extensions"):
        Registry(module(made(), made()))


def test_a_config_is_checked():
    def check(config: dict[str, Any]) -> None:
        if "key" not in config:
            raise ValueError("key is required")

    found = getattr(made(check=staticmethod(check)), EXTENSION_ATTRIBUTE)
    found.check({"key": 1})
    with pytest.raises(BadInput, match=r"extension com\.example\.site: key is required"):
        found.check({})
    getattr(made(), EXTENSION_ATTRIBUTE).check({})


def test_the_key_of_a_chapter_is_series_number_language_and_group():
    assert chapter("s", 1, language="en", group="a", title="x").key == ("s", "1", "en", "a")
    assert chapter("s", 1).key != chapter("s", 1, language="fr").key
