"""The `@extension` decorator: a pair of parsers that crawl the catalogue of a source, and the series of it.

A class is marked; its functions are generators like parsers, and fetch nothing themselves. `discover(page)` yields
series, as `series(…)`, and links to further lists. `crawl(page)` yields chapters, as `chapter(…)`, and links to their
pages. `check(config)`, if there is one, raises `ValueError` for a config that the extension cannot work with.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from longline.model.errors import BadInput
from longline.plugins.parser import HTML, Parser
from longline.plugins.parser_errors import ParserMistake
from longline.plugins.results import Item

EXTENSION_ATTRIBUTE = "__longline_extension__"
SERIES, CHAPTER = "series", "chapter"
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")
_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Extension:
    """The two parsers of an extension, and its check of configs."""

    name: str
    discover: Parser
    crawl: Parser
    checks: Callable[[Mapping[str, Any]], None] | None = None

    def check(self, config: Mapping[str, Any]) -> None:
        """Raise `BadInput` for a config that the extension refuses, or that its check cannot read."""
        if self.checks is None:
            return
        try:
            self.checks(config)
        except (ValueError, BadInput) as error:
            raise BadInput(f"extension {self.name}: {error}") from None
        except Exception as error:
            raise BadInput(f"extension {self.name}: its check failed with {type(error).__name__}: {error}") from None


def extension(name: str) -> Callable[[_Class], _Class]:
    """Mark a class with the functions `discover` and `crawl` as the extension of this name, a reverse domain."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParserMistake('@extension needs a reverse domain, as in @extension("com.example.extension.site")')

    def mark(cls: _Class) -> _Class:
        discover, crawl = _parser_of(cls, name, "discover"), _parser_of(cls, name, "crawl")
        setattr(cls, EXTENSION_ATTRIBUTE, Extension(name, discover, crawl, getattr(cls, "check", None)))
        return cls

    return mark


def _parser_of(cls: type, name: str, part: str) -> Parser:
    function = inspect.getattr_static(cls, part, None)
    function = function.__func__ if isinstance(function, staticmethod) else function
    if not inspect.isgeneratorfunction(function) and not inspect.isasyncgenfunction(function):
        raise ParserMistake(f"extension {name} needs a function {part}(page) that yields")
    return Parser(f"{name}/{part}", (), HTML, light=False, function=function)


def series(external_id: str, title: str, url: str, *, cover: str | None = None, **facts: Any) -> Item:
    """Return a series of a catalogue, by the id that its site gives to it; `facts` are further fields."""
    return Item(SERIES, external_id, title=title, link=url, cover=cover, **facts)


def chapter(series_id: str, number: str | float, *, language: str = "", group: str = "", **fields: Any) -> Item:
    """Return a chapter; the same number of a series in another language, or by another group, is another chapter."""
    key = (series_id, str(number), language, group)
    return Item(CHAPTER, key, series=series_id, number=number, language=language, group=group, **fields)
