"""The registry of parsers, filled from modules and files. There is no global registry."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import msgspec

from longline.model.errors import BadInput
from longline.plugins.page import Page
from longline.plugins.parser import PARSER_ATTRIBUTE, Parser


class Registry:
    """The parsers of the scanned modules; selects the parser of a page."""

    def __init__(self, *modules: ModuleType) -> None:
        self._parsers: dict[str, Parser] = {}
        for module in modules:
            self.scan(module)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """Return all parsers in the order of registration."""
        return tuple(self._parsers.values())

    def scan(self, module: ModuleType) -> tuple[Parser, ...]:
        """Register every parser of a module; raise `BadInput` for a second parser of the same name."""
        found = [
            mark
            for thing in vars(module).values()
            if isinstance(mark := getattr(thing, PARSER_ATTRIBUTE, None), Parser)
        ]
        for parser in found:
            if self._parsers.setdefault(parser.name, parser) is not parser:
                raise BadInput(f"two parsers are called {parser.name!r}; the second is in {module.__name__}")
        return tuple(found)

    def named(self, name: str) -> Parser | None:
        """Return the parser of this name."""
        return self._parsers.get(name)

    def parser_for(self, page: Page) -> Parser | None:
        """Return the parser with the best fit, the latest among equals: custom parsers precede built-in ones."""
        fits = [(fit, at) for at, parser in enumerate(self.parsers) if (fit := parser.fit(page)) is not None]
        return self.parsers[max(fits)[1]] if fits else None


class ParserSources(msgspec.Struct, frozen=True):
    """Modules by name, and files by path, from which each process loads the same parsers."""

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def open(self) -> Registry:
        """Load all parsers; raise `BadInput` for a file that is not Python or has no parser."""
        registry = Registry(*map(importlib.import_module, self.modules))
        for file in self.files:
            if not registry.scan(_load_module(Path(file))):
                raise BadInput(f"there is no parser in {file}; mark a function with @parser")
        return registry


def _load_module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"longline_parsers_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise BadInput(f"parsers: {file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # third-party code may raise any exception
        raise BadInput(f"parsers: {file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
