"""Marks functions as parsers. The mark stays on the function: who collects parsers is another matter."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from longline.plugins.page import Page
from longline.plugins.results import Item, Link, Links

HTML = ("text/html", "application/xhtml+xml")
MARK = "__longline_parser__"

Made = Item | Link | Links
ParserFunction = Callable[[Page], AsyncIterator[Made]] | Callable[[Page], Iterator[Made]]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Parser:
    """A function that makes items and links of pages, and which pages those are."""

    name: str
    match: tuple[str, ...]
    types: tuple[str, ...]
    light: bool
    function: ParserFunction
    when: Callable[[Page], bool] | None = None

    async def parse(self, page: Page) -> AsyncIterator[Made]:
        """What the function makes of the page, whichever kind of generator it is."""
        made = self.function(page)
        if isinstance(made, AsyncIterator):
            async for one in made:
                yield self._checked(one)
        else:
            for one in made:
                yield self._checked(one)

    def fit(self, page: Page) -> int | None:
        """How closely the parser was made for this page (letters of its longest matching pattern), or None if not."""
        fits = [len(glob.replace("*", "")) for glob in self.match if _matches(glob, page.url)]
        if not fits or not self._takes(page.content_type):
            return None
        return max(fits) if self.when is None or self.when(page) else None

    def _takes(self, content_type: str) -> bool:
        if "*" in self.types:
            return True
        return (content_type.partition(";")[0].strip().lower() or HTML[0]) in self.types

    def _checked(self, one: object) -> Made:
        if isinstance(one, Item | Link | Links):
            return one
        raise TypeError(f"parser {self.name} yields {type(one).__name__}, not Item, Link or Links")


def parser(
    name: str,
    *,
    match: str | tuple[str, ...] = "*",
    types: tuple[str, ...] = HTML,
    light: bool = False,
    when: Callable[[Page], bool] | None = None,
) -> Callable[[_Function], _Function]:
    """Mark a generator function, plain or async, as the parser for URLs that match; `*` stands for anything.

    Without a pattern, `match=()`, it parses only for sources that ask for it by name. A `light` one takes a millisecond
    or less and runs beside the fetches; every other runs in a process of its own, where it holds up nobody. `when` has
    a look at a page whose URL and type would do: servers often misname what they send.
    """

    def mark(function: _Function) -> _Function:
        if not inspect.isasyncgenfunction(function) and not inspect.isgeneratorfunction(function):
            raise TypeError(f"parser {name} must yield items and links")
        patterns = (match,) if isinstance(match, str) else match
        setattr(function, MARK, Parser(name, patterns, types, light, function, when))
        return function

    return mark


def _matches(glob: str, url: str) -> bool:
    """Return whether a glob fits a whole URL; only the star is special, a question mark is a query.

    The parts between stars are looked for from left to right, each once: an expression with several `.*` would try
    every place of the one for every place of the other.
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
