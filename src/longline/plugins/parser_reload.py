"""Reloading of custom parsers whose files have changed."""

import logging
from time import monotonic

from longline.model.errors import BadInput
from longline.plugins.registry import ParserCode, ParserSources, Registry

log = logging.getLogger(__name__)

RELOAD_INTERVAL_SECONDS = 1.0
"""Seconds between two looks at the files of custom parsers."""


class LoadedParsers(Registry):
    """Parsers of which changed files are loaded again, at most once a second, for the next pages and runs.

    A changed file that cannot be loaded is logged, and the parsers stay as they were.
    """

    def __init__(self, sources: ParserSources) -> None:
        super().__init__()
        self._sources, self._stamps, self._looked = sources, sources.stamps(), monotonic()
        self._take(sources.code())

    def code(self) -> ParserCode:
        """Return the code of the loaded parsers."""
        return self._code

    def refresh(self) -> None:
        """Load the files again if one has changed."""
        if not self._sources.files or monotonic() - self._looked < RELOAD_INTERVAL_SECONDS:
            return
        self._looked = monotonic()
        stamps = self._sources.stamps()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            code = self._sources.code()
            if code != self._code:
                self._take(code)
                log.info("parsers loaded again", extra={"parsers": [parser.name for parser in self.custom]})
        except BadInput as error:
            log.error("changed parsers not loaded", extra={"error": str(error)})

    def _take(self, code: ParserCode) -> None:
        loaded = code.open()
        self._code, self._parsers, self._custom = code, loaded._parsers, loaded._custom
        self._sessions, self._sinks, self._extensions = loaded._sessions, loaded._sinks, loaded._extensions
