"""Hints about the operator's own parsers at the end of a crawl: parsers that fit no page, and parsers that failed."""

from collections.abc import Iterator

from longline.cli.hints.command_lines import command
from longline.model.runs.run import RunRow
from longline.model.urls.url_credentials import hide_credentials
from longline.plugins.parser import HTML
from longline.plugins.parser_files import absolute_place
from longline.services.archive.parser_report import ParserUse, UnusedParser
from longline.settings import Settings


def parser_hints(use: ParserUse, run: RunRow, settings: Settings) -> list[str]:
    """Return a sentence for each parser without a page and for failures, then the command that parses again."""
    found = unused_parsers(use)
    if use.failed:
        pages = f"{'all' if use.all_failed else f'{use.failed:,} of the'} {use.taken:,} pages"
        pages = "the only page" if use.taken == 1 else pages
        found.append(f"own parsers failed on {pages} that they took; the pages are archived")
    if found:
        found.append(f"after a change of the parser, parse the same pages again: {reparse_command(run, settings)}")
    return found


def unused_parsers(use: ParserUse) -> list[str]:
    """Return a sentence for each parser that got no page."""
    return [_unused(parser, use) for parser in use.unused]


def reparse_command(run: RunRow, settings: Settings) -> str:
    """Return the command that parses the pages of a run again with the same files."""
    return command("reparse", "--run", str(run.id), *_places(settings))


def _places(settings: Settings) -> Iterator[str]:
    yield from ("--parsers", ",".join(map(absolute_place, settings.parsers)), "--data", str(settings.data))
    if settings.database != f"sqlite:///{settings.data / 'longline.db'}":
        yield from ("--database", hide_credentials(settings.database))


def _unused(parser: UnusedParser, use: ParserUse) -> str:
    """Return the reason for which a parser got no page, with a page of the crawl to compare."""
    name = f"parser {parser.name} ({parser.place})"
    if not parser.match:
        return f"{name} has match=() and runs only if it is named: --parser {parser.name}"
    match = parser.match[0] if len(parser.match) == 1 else parser.match
    types = "" if parser.types == HTML else f", types={parser.types!r}"
    pages = "the only page" if use.pages == 1 else f"any of the {use.pages:,} pages"
    return f"{name} does not match {pages}: match={match!r}{types}, but a page is {use.url}"
