"""The `@parser` decorator. The mark is an attribute of the function; `Registry` collects marked functions."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, TypeVar, cast

from longline.plugins.config import check_config_type, read_config
from longline.plugins.page import Page
from longline.plugins.parser_errors import ParserMistake, shown, yield_place
from longline.plugins.results import Child, Item, Link, Links, Refused

HTML = ("text/html", "application/xhtml+xml")
ANY_URL = ("*",)
PARSER_ATTRIBUTE = "__longline_parser__"

PARSER_KEY, CONFIG_KEY, LAST_RESORT_KEY = "parser", "config", "last_resort"
"""Keys of a page's config: the parser that its source names, the config of that parser, and the parser of last resort.

The parser of last resort takes pages that only the default parser accepts.
"""

Made = Item | Link | Links | Refused | Child
ParserFunction = Callable[..., AsyncIterator[Made]] | Callable[..., Iterator[Made]]
"""A function of a page and, where the parser declares a config type, of its config."""

_Function = TypeVar("_Function", bound=Callable[..., Any])

_REMEDIES = MappingProxyType(
    {
        dict: 'write yield Item("KIND", **fields)',
        str: "a link is Link(url), a page's links are Links(page.links())",
        list: "yield each of its items by itself, and links as Links(urls)",
        type(None): "write nothing where there is no item",
    }
)
"""Remedies for results of a wrong type."""


@dataclass(frozen=True)
class Parser:
    """A parser function, and the conditions under which a page is given to it."""

    name: str
    match: tuple[str, ...]
    types: tuple[str, ...]
    light: bool
    function: ParserFunction
    when: Callable[[Page], bool] | None = None
    config: type | None = None

    async def parse(self, page: Page) -> AsyncIterator[Made]:
        """Yield the items and links that the function, a plain or an async generator, makes of the page."""
        made = self.results(page)
        if isinstance(made, AsyncIterator):
            async for one in made:
                yield self.checked(one, made)
        else:
            for one in made:
                yield self.checked(one, made)

    def results(self, page: Page) -> AsyncIterator[Made] | Iterator[Made]:
        """Return the generator of the function for a page; its results are not yet checked."""
        return self.function(page) if self.config is None else self.function(page, self._config_of(page))

    @property
    def file(self) -> str:
        """Return the file in which the function is written."""
        return self._code.co_filename

    @property
    def place(self) -> str:
        """Return the file and the line of the function."""
        return f"{shown(self.file)}:{self._code.co_firstlineno}"

    @property
    def _code(self) -> CodeType:
        return cast(FunctionType, inspect.unwrap(self.function)).__code__

    def check(self, config: Mapping[str, Any]) -> None:
        """Raise `BadInput`, with the name of the key, for a config that is not of the declared type."""
        read_config(self.name, self.config, config)

    def _config_of(self, page: Page) -> Any:
        """Return the config of the page's source if the source names this parser, else the defaults."""
        given = page.config.get(CONFIG_KEY) if page.config.get(PARSER_KEY) == self.name else None
        return read_config(self.name, self.config, given or {})

    def fit(self, page: Page) -> int | None:
        """Return the length of the longest matching pattern without stars, or None for a page of other parsers."""
        fit = self.fit_of(page.url, page.content_type)
        return fit if fit is not None and (self.when is None or self.when(page)) else None

    def fit_of(self, url: str, content_type: str) -> int | None:
        """Return the fit of a page by its URL and type alone."""
        if not self.match or not self._takes(content_type):
            return None
        # Most parsers take any URL, and every page is checked.
        if self.match == ANY_URL:
            return 0
        return max((len(glob.replace("*", "")) for glob in self.match if matches_glob(glob, url)), default=None)

    def _takes(self, content_type: str) -> bool:
        if "*" in self.types:
            return True
        return (content_type.partition(";")[0].strip().lower() or HTML[0]) in self.types

    def checked(self, one: object, results: object = None) -> Made:
        """Return a result of the function; raise `ParserMistake`, with the line of its yield, for any other object."""
        if isinstance(one, Item | Link | Links | Refused | Child):
            return one
        remedy = _REMEDIES.get(type(one), "make an item of it")
        text = f"parser {self.name} yields {type(one).__name__}, not Item, Link, Links, Child or Refused: {remedy}"
        raise ParserMistake(text, yield_place(results, self.file))


def parser(
    name: str = "",
    *,
    match: str | tuple[str, ...] = "*",
    types: tuple[str, ...] = HTML,
    light: bool = False,
    when: Callable[[Page], bool] | None = None,
    config: type | None = None,
) -> Callable[[_Function], _Function]:
    """Mark a generator function, plain or async, as the parser for URLs that match; `*` stands for any characters.

    Without a pattern, `match=()`, a parser runs only for sources that name it. A `light` parser takes a millisecond or
    less and runs beside the fetches; other parsers run in processes of their own, where they delay no fetch. `when`
    checks a page of matching URL and type: servers often send a wrong Content-Type. `config` is the type of the config
    that a source may have for this parser; the function takes a value of the type as its second argument.
    """
    if not isinstance(name, str) or not name:
        raise ParserMistake('@parser needs the name of the parser in parentheses, as in @parser("books", match="*")')
    check_config_type(name, config)

    def mark(function: _Function) -> _Function:
        if not inspect.isasyncgenfunction(function) and not inspect.isgeneratorfunction(function):
            raise ParserMistake(f"parser {name} must yield items and links: write yield instead of return")
        if config is None and _required(function) > 1:
            raise ParserMistake(f"parser {name} takes a config: name its type, as in @parser({name!r}, config=dict)")
        patterns = (match,) if isinstance(match, str) else match
        setattr(function, PARSER_ATTRIBUTE, Parser(name, patterns, types, light, function, when, config))
        return function

    return mark


def _required(function: _Function) -> int:
    """Return the number of positional arguments without a default."""
    found = inspect.signature(function).parameters.values()
    return sum(one.default is one.empty and one.kind <= one.POSITIONAL_OR_KEYWORD for one in found)


def matches_glob(glob: str, url: str) -> bool:
    """Return whether a glob matches a whole URL; only the star is special, since a question mark begins a query.

    The parts between stars are searched from left to right, each once: a regular expression with several `.*` would
    backtrack over every combination of places.
    """
    first, *parts = glob.split("*")
    if not parts:
        return url == glob
    *middle, last = parts
    at, end = len(first), len(url) - len(last)
    if at > end or not url.startswith(first) or not url.endswith(last):
        return False
    for part in middle:
        found = url.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
