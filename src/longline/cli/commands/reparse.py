"""`longline reparse`: items of a run made anew from its archived pages."""

from typing import Annotated

import typer
from rich.console import Console

from longline.cli import log_setup as logs
from longline.cli.commands.export import bar
from longline.cli.data_folder import READS, kept
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.services.archive.reparse import Reparsed
from longline.settings import Loaded
from longline.wiring import reparse as parse_again

_ALL_FAILED = 1


@takes(*READS, "parsers", "parser")
def reparse(
    loaded: Loaded,
    run: Annotated[int | None, typer.Option(help="Which run; unless given, the last one.", show_default=False)] = None,
) -> None:
    """Parse the pages of a run again, as they were kept; nothing is fetched."""
    logs.set_up("error", loaded.settings.log_format)
    console = Console()
    with bar(console, "parsing") as progress:
        shown = progress.add_task("", total=None)
        work = parse_again(kept(loaded), run, lambda done, total: progress.update(shown, completed=done, total=total))
        done = run_loop(work)
    console.print(told(done), highlight=False, soft_wrap=True, markup=False)
    if done.pages and done.failed == done.pages:
        raise typer.Exit(_ALL_FAILED)


def told(done: Reparsed) -> str:
    """Return the counts of a reparse as text, with the first error."""
    said = f"pages parsed: {done.pages:,}, items: {done.items:,}, of them new or changed: {done.changed:,}"
    return f"{said}\nfailed: {done.failed:,}, the first of them {done.error}" if done.failed else said
