"""Config types of parsers: values of a source are checked, and the parser gets them typed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.plugins import Item, Page, Refused, parser
from longline.plugins.config import read_config
from longline.plugins.parser import PARSER_ATTRIBUTE, Parser


class Shop(msgspec.Struct):
    currency: str
    pages: int = 5
    words: dict[str, int] = {}


class Bounded(msgspec.Struct):
    pages: int = 1

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError("pages must be at least 1")


@dataclass
class AsDataclass:
    pages: int = 1


class AsTypedDict(TypedDict, total=False):
    pages: int


@pytest.mark.parametrize(
    ("kind", "given", "error"),
    [
        (None, {"pages": 1}, "the parser 'shop' takes no config, but the config has pages"),
        (Shop, {}, "the config of the parser 'shop' is not valid: currency is required"),
        (Shop, {"currency": "GBP", "page": 1}, "has no key 'page'; its keys are currency, pages, words"),
        (Shop, {"currency": 7}, "is not valid: currency: expected str, got int"),
        (Shop, {"currency": "GBP", "words": {"a": "b"}}, "is not valid: words"),
        (Bounded, {"pages": 0}, "pages must be at least 1"),
        (AsDataclass, {"pages": "x"}, "is not valid: pages: expected int, got str"),
        (AsTypedDict, {"sites": 1}, "has no key 'sites'; its keys are pages"),
    ],
)
def test_a_config_that_is_refused_names_the_key(kind: type | None, given: dict[str, Any], error: str):
    with pytest.raises(BadInput, match=error):
        read_config("shop", kind, given)


def test_a_config_of_the_declared_type():
    assert read_config("shop", Shop, {"currency": "GBP"}) == Shop("GBP")
    assert read_config("shop", AsDataclass, {"pages": 3}) == AsDataclass(3)
    assert read_config("shop", dict, {"any": ["thing"]}) == {"any": ["thing"]}
    assert read_config("shop", None, {}) is None


@parser("shop", match=(), config=Bounded)
def shop(page: Page, config: Bounded) -> Iterator[Item]:
    yield Item("shop", pages=config.pages)


@pytest.mark.parametrize(
    ("config", "pages"),
    [
        ({"parser": "shop", "config": {"pages": 7}}, 7),
        ({"parser": "shop"}, 1),
        ({"parser": "other", "config": {"pages": 7}}, 1),
        ({}, 1),
    ],
)
async def test_a_parser_gets_the_config_of_a_source_that_names_the_parser(config: dict[str, Any], pages: int):
    mark: Parser = getattr(shop, PARSER_ATTRIBUTE)
    page = Page("https://a.example/", b"", config=config)
    assert [one async for one in mark.parse(page)] == [Item("shop", pages=pages)]


@pytest.mark.parametrize("kind", [int, list[str], object])
def test_a_config_type_that_is_no_object_is_refused_with_the_mark(kind: type):
    with pytest.raises(TypeError, match="parser odd: "):
        parser("odd", config=kind)


@pytest.mark.parametrize("reason", ["", "Sold out", "sold-out", "x" * 41])
def test_a_reason_is_one_word(reason: str):
    with pytest.raises(ValueError, match="must be one word"):
        Refused(reason)
