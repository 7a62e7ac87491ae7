"""Marks functions as parsers. The mark stays on the function: who collects parsers is another matter."""

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from longline.plugins.made import Item, Link, Links
from longline.plugins.page import Page

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
    return glob == "*" or _expression(glob).fullmatch(url) is not None


@lru_cache(maxsize=1000)
def _expression(glob: str) -> re.Pattern[str]:
    # Only the star is special: a question mark is a query and a bracket an address.
    return re.compile(".*".join(map(re.escape, re.sub(r"\*+", "*", glob).split("*"))), re.DOTALL)
