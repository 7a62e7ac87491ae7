"""Collects what modules offer. There is no registry but the one that somebody makes."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import msgspec

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

    def named(self, name: str) -> Parser | None:
        """The parser of that name."""
        return self._parsers.get(name)

    def parser_for(self, page: Page) -> Parser | None:
        """The parser that was made most closely for this page, the latest among equals, so that yours precede ours."""
        fits = [(fit, at) for at, parser in enumerate(self.parsers) if (fit := parser.fit(page)) is not None]
        return self.parsers[max(fits)[1]] if fits else None


class ParserSources(msgspec.Struct, frozen=True):
    """Where parsers are found: modules by name, and files by path. Another process finds the same ones there."""

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def open(self) -> Registry:
        """All of them; refuses a file that is none of Python's, or has no parser."""
        registry = Registry(*map(importlib.import_module, self.modules))
        for file in self.files:
            if not registry.scan(_loaded(Path(file))):
                raise BadInput(f"there is no parser in {file}; mark a function with @parser")
        return registry


def _loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"longline_parsers_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise BadInput(f"parsers: {file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # somebody else's code may raise anything
        raise BadInput(f"parsers: {file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
