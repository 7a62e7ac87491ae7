"""`longline urls`: every URL of a run, with its fate."""

import csv
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.cli.hints.command_lines import command
from longline.cli.listing import Column, Listing, OutputConsole, counted
from longline.model.exports.export import STREAM, table_file
from longline.model.frontier.fate import FATES, UrlFilters
from longline.model.runs.run import RunRow
from longline.model.urls.url_credentials import hide_credentials
from longline.services.frontier.url_fates import UrlOut
from longline.settings import Loaded, Settings
from longline.wiring import export_urls, list_urls

MAX_SHOWN = 1000
"""Largest number of URLs in a table on a terminal."""

_NONE = "the run has no such URLs"


class Format(StrEnum):
    """The format of a list on standard output."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"


@takes(*READ_KEYS)
def urls(
    loaded: Loaded,
    run: Annotated[
        int | None, typer.Option(help="Number of the run; if not given, the last run.", show_default=False)
    ] = None,
    fate: Annotated[
        str | None, typer.Option(help=f"Only URLs with this fate: {', '.join(FATES)}.", show_default=False)
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Only URLs with this reason, for example http_5xx.", show_default=False)
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Only URLs of this host, with or without its port.", show_default=False)
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Format; if not given, a table on a terminal, else jsonl.", show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="File: .csv, .jsonl or .parquet.", show_default=False),
    ] = None,
) -> None:
    """List the URLs of a run: fate, reason, status, attempts, and the page with the link. The filters combine."""
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    settings, filters = archive_settings(loaded), UrlFilters(fate, reason, host)
    if output is not None and output != STREAM:
        written = run_loop(export_urls(settings, run, filters, table_file(output)))
        OutputConsole().print(Text(f"{counted(written.rows or 0, 'URL')} in {written.path}"), soft_wrap=True)
        return
    console = OutputConsole()
    chosen = form or (Format.TABLE if console.is_terminal and output is None else Format.JSONL)
    if chosen is Format.TABLE:
        _show_table(console, settings, run, filters)
    else:
        write = _csv() if chosen is Format.CSV else _write_lines
        if not run_loop(list_urls(settings, run, filters, write)):
            OutputConsole(stderr=True).print(Text(_NONE))


def urls_command(run: RunRow, settings: Settings) -> str:
    """Return a line with the command that lists the URLs of a run, the failed ones if there are any."""
    words = ["urls", "--run", str(run.id), *(["--fate", "failed"] if run.failed else []), "--data", str(settings.data)]
    if settings.database != f"sqlite:///{settings.data / 'longline.db'}":
        words += ["--database", hide_credentials(settings.database)]
    return f"to list {'failed' if run.failed else 'all'} URLs: {command(*words)}"


def _write_lines(rows: Sequence[UrlOut]) -> None:
    sys.stdout.buffer.write(msgspec.json.Encoder().encode_lines(rows))


def _csv() -> Callable[[Sequence[UrlOut]], None]:
    """Return a function that writes rows as CSV, after a line with the names of the columns."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(UrlOut.__struct_fields__)

    def write(rows: Sequence[UrlOut]) -> None:
        # Times are written as in JSON.
        out.writerows(msgspec.to_builtins(row).values() for row in rows)

    return write


def _show_table(console: Console, settings: Settings, run: int | None, filters: UrlFilters) -> None:
    numbers = (Column(title, right=True) for title in ("status", "tries", "depth"))
    listing = Listing("fate", Column("reason", copied=True), *numbers, Column("URL", copied=True), console=console)

    def show(rows: Sequence[UrlOut]) -> None:
        for row in rows[: max(0, MAX_SHOWN - listing.count)]:
            status = str(row.status) if row.status is not None else ""
            listing.add(row.fate, row.reason or "", status, str(row.attempts), str(row.depth), _url_cell(row))

    count = run_loop(list_urls(settings, run, filters, show))
    listing.print()
    if not count:
        listing.note(_NONE)
        return
    more = f"; {count - MAX_SHOWN:,} are not shown, -o FILE writes all" if count > MAX_SHOWN else ""
    listing.note(f"{count:,} URLs{more}")


def _url_cell(row: UrlOut) -> Text:
    """Return a URL on a line of its own; below it the URL that it led to, its error, and the page with the link."""
    cell = Text(row.url)
    if row.final_url not in (None, row.url):
        cell.append(f"\n-> {row.final_url}", "dim")
    if row.error:
        cell.append(f"\n{row.error}", "dim")
    if row.found_on:
        cell.append(f"\nfound on {row.found_on}", "dim")
    return cell
