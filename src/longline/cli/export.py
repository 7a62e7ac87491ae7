"""`longline export`: pages and items of a run as WARC, JSON lines, Parquet or CSV."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from longline.cli import logs
from longline.cli.flags import takes
from longline.cli.kept import READS, kept
from longline.cli.loop import run as run_loop
from longline.model.errors import BadInput
from longline.model.export import FORMATS, Written
from longline.settings import Loaded, Settings
from longline.wiring import export as export_run

EVERY = ",".join(FORMATS)


@takes(*READS)
def export(
    loaded: Loaded,
    run: Annotated[int | None, typer.Option(help="Which run; unless given, the last one.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="Folder to put the files into.")] = Path("export"),
    formats: Annotated[str, typer.Option(help=f"Which of {EVERY}, separated by commas.")] = "warc,jsonl,parquet",
) -> None:
    """Write what a run brought into files: pages and items."""
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    console = Console()
    written = write(kept(loaded), run, out, split(formats), console)
    table = Table("file", "size", box=None)
    table.columns[1].justify = "right"
    for file in written:
        table.add_row(file.path, decimal(file.bytes))
    console.print(table if written else "there is nothing to write")


def write(settings: Settings, run_id: int | None, out: Path, formats: Sequence[str], console: Console) -> list[Written]:
    """Export with a bar to watch; the files."""
    with bar(console, "writing files") as progress:
        shown = progress.add_task("", total=None)
        work = export_run(
            settings, run_id, out, formats, lambda done, total: progress.update(shown, completed=done, total=total)
        )
        return run_loop(work)[1]


def bar(console: Console, what: str) -> Progress:
    """A bar for work whose steps are counted; off a terminal it draws nothing."""
    return Progress(
        SpinnerColumn(),
        TextColumn(f"[bold]{what}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def split(formats: str) -> list[str]:
    """The formats of a list with commas, each once."""
    words = list(dict.fromkeys(word for part in formats.split(",") if (word := part.strip().lower())))
    if unknown := [word for word in words if word not in FORMATS]:
        raise BadInput(f"no such format: {', '.join(unknown)}; there are {EVERY}")
    return words
