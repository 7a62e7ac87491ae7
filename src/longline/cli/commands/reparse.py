"""`longline reparse`: items of a run made anew from its archived pages."""

from typing import Annotated

import typer
from rich.console import Console

from longline.cli import log_setup as logs
from longline.cli.commands.export import progress_bar
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.services.archive.reparse import Reparsed
from longline.settings import Loaded
from longline.wiring import reparse as parse_again

_ALL_FAILED = 1


@takes(*READ_KEYS, "parsers", "parser", "parser_config")
def reparse(
    loaded: Loaded,
    run: Annotated[
        int | None, typer.Option(help="Number of the run; if not given, the last run.", show_default=False)
    ] = None,
) -> None:
    """Parse the archived pages of a run again; nothing is fetched."""
    logs.set_up("error", loaded.settings.log_format)
    console = Console()
    with progress_bar(console, "parsing") as progress:
        shown = progress.add_task("", total=None)
        work = parse_again(
            archive_settings(loaded), run, lambda done, total: progress.update(shown, completed=done, total=total)
        )
        done = run_loop(work)
    console.print(summary(done), highlight=False, soft_wrap=True, markup=False)
    if done.pages and done.failed == done.pages:
        raise typer.Exit(_ALL_FAILED)


def summary(done: Reparsed) -> str:
    """Return the counts of a reparse as text, with the first error."""
    counts = f"pages parsed: {done.pages:,}, items: {done.items:,}, new or changed: {done.changed:,}"
    return f"{counts}\nfailed: {done.failed:,}, first: {done.error}" if done.failed else counts
