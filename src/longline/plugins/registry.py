"""Collects what modules offer. There is no registry but the one that somebody makes."""

from types import ModuleType

from longline.model.errors import BadInput
from longline.plugins.page import Page
from longline.plugins.parser import MARK, Parser


class Registry:
    """The parsers of the modules that were scanned, and which of them a page goes to."""

    def __init__(self, *modules: ModuleType) -> None:
        self._parsers: dict[str, Parser] = {}
        for module in modules:
            self.scan(module)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """All of them, in the order in which they were found."""
        return tuple(self._parsers.values())

    def scan(self, module: ModuleType) -> tuple[Parser, ...]:
        """Take in every parser of a module; refuses a second parser by the name of another."""
        found = [mark for thing in vars(module).values() if isinstance(mark := getattr(thing, MARK, None), Parser)]
        for parser in found:
            if self._parsers.setdefault(parser.name, parser) is not parser:
                raise BadInput(f"two parsers are called {parser.name!r}; the second is in {module.__name__}")
        return tuple(found)

    def parser_for(self, page: Page) -> Parser | None:
        """The parser that was made most closely for this page, the latest among equals, so that yours precede ours."""
        fits = [(fit, at) for at, parser in enumerate(self.parsers) if (fit := parser.fit(page)) is not None]
        return self.parsers[max(fits)[1]] if fits else None
