"""The registry of parsers, filled from modules and files. There is no global registry."""

import importlib
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from longline.model.errors import BadInput
from longline.plugins.extension import EXTENSION_ATTRIBUTE, Extension
from longline.plugins.page import Page
from longline.plugins.parser import HTML, PARSER_ATTRIBUTE, Parser
from longline.plugins.parser_files import import_parsers, is_module, read_source, run_source
from longline.plugins.session import SESSION_ATTRIBUTE, SessionHook
from longline.plugins.sink import SINK_ATTRIBUTE, SinkHook

log = logging.getLogger(__name__)

DEFAULT_PARSER = "page"
"""Parser of pages that no other parser accepts, unless the plan of a run has another last resort."""

ANY_TYPE = "*"


class Registry:
    """The parsers of the scanned modules; selects the parser of a page."""

    def __init__(self, *modules: ModuleType) -> None:
        self._parsers: dict[str, Parser] = {}
        self._custom: set[str] = set()
        self._sessions: dict[str, SessionHook] = {}
        self._sinks: dict[str, SinkHook] = {}
        self._extensions: dict[str, Extension] = {}
        for module in modules:
            self.scan(module)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """Return all parsers in the order of registration, without those of extensions."""
        own = {part.name for each in self._extensions.values() for part in (each.discover, each.crawl)}
        return tuple(parser for name, parser in self._parsers.items() if name not in own)

    @property
    def sessions(self) -> tuple[SessionHook, ...]:
        """Return all functions that log in, in the order of registration."""
        return tuple(self._sessions.values())

    @property
    def sinks(self) -> dict[str, SinkHook]:
        """Return all functions that send items, by scheme."""
        return dict(self._sinks)

    @property
    def extensions(self) -> dict[str, Extension]:
        """Return all extensions, by name."""
        return dict(self._extensions)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all parsers, sorted."""
        return tuple(sorted(parser.name for parser in self.parsers))

    @property
    def custom(self) -> tuple[Parser, ...]:
        """Return the operator's own parsers."""
        return tuple(parser for parser in self.parsers if parser.name in self._custom)

    def scan(self, module: ModuleType, *, custom: bool = False) -> tuple[Parser | SessionHook | SinkHook, ...]:
        """Register all plugins of a module; raise `BadInput` for a second one of the same name."""
        found = [
            mark
            for thing in vars(module).values()
            if isinstance(mark := getattr(thing, PARSER_ATTRIBUTE, None), Parser)
        ]
        found += self._scan_extensions(module)
        for parser in found:
            if custom and parser.name not in self._parsers:
                self._custom.add(parser.name)
            known = self._parsers.setdefault(parser.name, parser)
            if known is not parser:
                raise BadInput(f"two parsers are called {parser.name!r}: {known.place} and {parser.place}; rename one")
        return (*found, *self._scan_sessions(module), *self._scan_sinks(module))

    def _scan_extensions(self, module: ModuleType) -> list[Parser]:
        """Register the extensions of a module; return their parsers."""
        marks = (getattr(thing, EXTENSION_ATTRIBUTE, None) for thing in vars(module).values())
        found = [mark for mark in marks if isinstance(mark, Extension)]
        for each in found:
            if self._extensions.setdefault(each.name, each) is not each:
                raise BadInput(
                    f"two extensions are called {each.name!r}; the second is in {module.__name__}; rename one"
                )
        return [parser for each in found for parser in (each.discover, each.crawl)]

    def _scan_sessions(self, module: ModuleType) -> list[SessionHook]:
        marks = (getattr(thing, SESSION_ATTRIBUTE, None) for thing in vars(module).values())
        hooks = [mark for mark in marks if isinstance(mark, SessionHook)]
        for hook in hooks:
            if self._sessions.setdefault(hook.name, hook) is not hook:
                raise BadInput(f"two sessions are called {hook.name!r}; the second is in {module.__name__}; rename one")
        return hooks

    def _scan_sinks(self, module: ModuleType) -> list[SinkHook]:
        marks = (getattr(thing, SINK_ATTRIBUTE, None) for thing in vars(module).values())
        hooks = [mark for mark in marks if isinstance(mark, SinkHook)]
        for hook in hooks:
            if self._sinks.setdefault(hook.scheme, hook) is not hook:
                raise BadInput(f"two sinks are for {hook.scheme}://; the second is in {module.__name__}; rename one")
        return hooks

    def refresh(self) -> None:
        """Take up changes of the files; a registry of fixed modules has none."""

    def named(self, name: str) -> Parser | None:
        """Return the parser of this name."""
        return self._parsers.get(name)

    def check(self, name: str, config: Mapping[str, Any]) -> Parser | None:
        """Return the named parser, None without a name; raise `BadInput` for an unknown name or an invalid config."""
        self.refresh()
        if not name:
            if config:
                raise BadInput("config is the config of a parser: name the parser with the field parser")
            return None
        parser = self.named(name)
        if parser is None:
            raise BadInput(no_parser(name, self.names))
        parser.check(config)
        return parser

    def parser_for(self, page: Page, last_resort: str = DEFAULT_PARSER) -> Parser | None:
        """Return the parser with the best fit, the latest among equals: custom parsers precede built-in ones.

        A page that only the default parser accepts goes to the parser of last resort.
        """
        best, best_fit = None, -1
        for parser in self._parsers.values():
            # Most parsers run only for sources that name them, and every page is checked.
            if parser.match and (fit := parser.fit(page)) is not None and fit >= best_fit:
                best, best_fit = parser, fit
        return self.named(last_resort) or best if best is not None and best.name == DEFAULT_PARSER else best

    def content_types(self, name: str = "") -> tuple[str, ...]:
        """Return the types of content that the named parser takes, or without a name HTML and those of custom parsers.

        No type at all stands for any.
        """
        named = self.named(name)
        asked = [named] if named is not None else self.custom
        types = (*(() if named else HTML), *(kind for parser in asked for kind in parser.types))
        return () if ANY_TYPE in types else tuple(dict.fromkeys(types))


def no_parser(name: str, known: Iterable[str]) -> str:
    """Return the sentence about a parser that is not loaded."""
    remedy = "The setting parsers names the files or modules to load"
    if name.endswith(".py"):
        remedy = f"To load the parsers of a file: --parsers {name}"
    return f"there is no parser {name!r}; loaded are {', '.join(known)}. {remedy}"


class ParserCode(msgspec.Struct, frozen=True):
    """The code of parsers at one moment: built-in modules by name, and custom ones as text, or None for a module.

    Every process that gets the same code has the same parsers, even if a file changes meanwhile.
    """

    modules: tuple[str, ...] = ()
    custom: tuple[tuple[str, bytes | None], ...] = ()

    def open(self) -> Registry:
        """Load all parsers; raise `BadInput`, with file and line, for a file that fails or has no parser."""
        registry = Registry(*map(importlib.import_module, self.modules))
        for place, source in self.custom:
            module = import_parsers(place) if source is None else run_source(place, source)
            if not registry.scan(module, custom=True):
                raise BadInput(
                    f"there is no parser, session or sink in {place}; mark a function with @parser, @session or @sink"
                )
        return registry


class ParserSources(msgspec.Struct, frozen=True):
    """Built-in modules by name, and the operator's files by path or modules by name."""

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def code(self) -> ParserCode:
        """Return the present code; raise `BadInput` for a file that cannot be read."""
        custom = tuple((file, None if is_module(file) else read_source(file)) for file in self.files)
        return ParserCode(self.modules, custom)

    def open(self) -> Registry:
        """Load all parsers as they are now; raises as `ParserCode.open` does."""
        return self.code().open()

    def stamps(self) -> tuple[object, ...]:
        """Return values that change with the files."""
        return tuple(_stamp(Path(file)) for file in self.files)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        facts = path.stat()
    except OSError:
        return ()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
