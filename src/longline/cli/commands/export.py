"""`longline export`: pages, items and URLs of a run as WARC, JSON lines, Parquet, CSV or Markdown."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, REPAIR_COMMANDS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.exit_codes import DAMAGED
from longline.cli.flags import takes
from longline.cli.item_outputs import Outputs, print_tables, takes_outputs
from longline.cli.listing import Column, Listing, OutputConsole
from longline.model.errors import BadInput
from longline.model.exports.export import FORMATS
from longline.services.exports.exports import Exported
from longline.settings import Loaded, Settings
from longline.wiring import FolderOutput, export_items
from longline.wiring import export as export_run

ALL_FORMATS = ",".join(FORMATS)


DEFAULT_FOLDER, DEFAULT_FORMATS = Path("export"), "warc,jsonl,parquet"


@takes(*READ_KEYS)
@takes_outputs(f"Folder for the files; if not given, {DEFAULT_FOLDER}.")
def export(
    loaded: Loaded,
    run: Annotated[
        int | None, typer.Option(help="Number of the run; if not given, the last run.", show_default=False)
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            help=f"Formats, separated by commas: {ALL_FORMATS}; if not given, {DEFAULT_FORMATS}.", show_default=False
        ),
    ] = None,
    headers: Annotated[
        bool, typer.Option("--headers", help="Add the headers of responses to the tables of pages.")
    ] = False,
    *,
    outputs: Outputs,
) -> None:
    """Write the pages, items and URLs of a run into a folder, or with -o its items alone into the named files.

    The tables of a folder have the same columns for items of every kind, with the fields of the parser as JSON in one
    of them. The files of -o have the fields of the parser as columns.
    """
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    # Standard output belongs to the items.
    console = OutputConsole(stderr=outputs.items.stream)
    out = FolderOutput(outputs.folder or DEFAULT_FOLDER, parse_formats(formats or DEFAULT_FORMATS), headers)
    if outputs.items.files or outputs.items.stream:
        print_tables(console, run_loop(export_items(archive_settings(loaded), run, outputs.items)))
        if outputs.folder is None and formats is None and not headers:
            return
    _write_folder(archive_settings(loaded), run, out, console)


def _write_folder(settings: Settings, run: int | None, out: FolderOutput, console: Console) -> None:
    exported = write(settings, run, out, console)
    listing = Listing(Column("file", copied=True), Column("size", right=True), console=console)
    for file in exported.files:
        listing.add(file.path, decimal(file.bytes))
    listing.print()
    if not exported.files:
        listing.note("nothing to export")
    if exported.damaged:
        _print_damage(exported)
        raise typer.Exit(DAMAGED)


def _print_damage(exported: Exported) -> None:
    """Print every damaged record, which the WARC file leaves out."""
    console = OutputConsole(stderr=True)
    for damage in exported.damaged:
        console.print(Text(f"damaged: {damage}"), soft_wrap=True, highlight=False)
    pages = len({damage.task_id for damage in exported.damaged})
    found = f"{pages} of {exported.pages} pages are damaged and not in the WARC file"
    line = f"{found}; to fetch them again: {REPAIR_COMMANDS}"
    console.print(Text.assemble(("error:", "bold red"), " ", line), soft_wrap=True, highlight=False)


def write(settings: Settings, run_id: int | None, out: FolderOutput, console: Console) -> Exported:
    """Export with a progress bar."""
    with progress_bar(console, "writing files") as progress:
        shown = progress.add_task("", total=None)
        work = export_run(
            settings, run_id, out, lambda done, total: progress.update(shown, completed=done, total=total)
        )
        return run_loop(work)


def progress_bar(console: Console, title: str, count: ProgressColumn | None = None) -> Progress:
    """Return a progress bar for counted steps, disabled off a terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn(f"[bold]{title}"),
        BarColumn(),
        count or MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def parse_formats(formats: str) -> list[str]:
    """Return the formats of a comma-separated list, each once."""
    words = list(dict.fromkeys(word for part in formats.split(",") if (word := part.strip().lower())))
    if unknown := [word for word in words if word not in FORMATS]:
        raise BadInput(f"no such format: {', '.join(unknown)}; there are {ALL_FORMATS}")
    return words
