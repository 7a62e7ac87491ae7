"""`longline export`: pages and items of a run as WARC, JSON lines, Parquet or CSV."""

from collections.abc import Sequence
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
from rich.table import Table
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.model.archive.export import FORMATS
from longline.model.errors import BadInput
from longline.services.archive.exports import Exported
from longline.settings import Loaded, Settings
from longline.wiring import export as export_run

ALL_FORMATS = ",".join(FORMATS)
_DAMAGED = 1


@takes(*READ_KEYS)
def export(
    loaded: Loaded,
    run: Annotated[
        int | None, typer.Option(help="Number of the run; if not given, the last run.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("export"),
    formats: Annotated[str, typer.Option(help=f"Formats, separated by commas: {ALL_FORMATS}.")] = "warc,jsonl,parquet",
) -> None:
    """Write the pages and items of a run into files."""
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    console = Console()
    exported = write(archive_settings(loaded), run, out, parse_formats(formats), console)
    table = Table("file", "size", box=None)
    table.columns[1].justify = "right"
    for file in exported.files:
        table.add_row(file.path, decimal(file.bytes))
    console.print(table if exported.files else "nothing to export")
    if exported.damaged:
        _print_damage(exported)
        raise typer.Exit(_DAMAGED)


def _print_damage(exported: Exported) -> None:
    """Print every damaged record, which the WARC file leaves out."""
    console = Console(stderr=True)
    for damage in exported.damaged:
        console.print(Text(f"damaged: {damage}"), soft_wrap=True, highlight=False)
    pages = len({damage.task_id for damage in exported.damaged})
    found = f"{pages} of {exported.pages} pages are damaged and not in the WARC file"
    line = f"{found}; to fetch them again: longline doctor --deep --repair, or longline crawl --again"
    console.print(Text.assemble(("error:", "bold red"), " ", line), soft_wrap=True, highlight=False)


def write(settings: Settings, run_id: int | None, out: Path, formats: Sequence[str], console: Console) -> Exported:
    """Export with a progress bar."""
    with progress_bar(console, "writing files") as progress:
        shown = progress.add_task("", total=None)
        work = export_run(
            settings, run_id, out, formats, lambda done, total: progress.update(shown, completed=done, total=total)
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
