"""`longline reparse`: items of a run made anew from its archived pages."""

from typing import Annotated

import msgspec
import typer
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.commands.export import progress_bar
from longline.cli.data_folder import READ_KEYS, REPAIR_COMMANDS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.exit_codes import FAILED
from longline.cli.flags import takes
from longline.cli.hints.parser_hints import unused_parsers
from longline.cli.listing import OutputConsole
from longline.services.archive.reparse import Reparsed
from longline.settings import Loaded
from longline.wiring import parsers_of_run
from longline.wiring import reparse as parse_again


@takes(*READ_KEYS, "parsers", "parser", "parser_config")
def reparse(
    loaded: Loaded,
    run: Annotated[
        int | None, typer.Option(help="Number of the run; if not given, the last run.", show_default=False)
    ] = None,
) -> None:
    """Parse the archived pages of a run again; nothing is fetched.

    Without --parsers the files of the run's own parsers are used, as they are now.
    """
    logs.set_up("error", loaded.settings.log_format)
    console, settings = OutputConsole(), archive_settings(loaded)
    if loaded.origins["parsers"] == "default":
        settings = msgspec.structs.replace(settings, parsers=run_loop(parsers_of_run(settings, run)))
    with progress_bar(console, "parsing") as progress:
        shown = progress.add_task("", total=None)
        work = parse_again(settings, run, lambda done, total: progress.update(shown, completed=done, total=total))
        done = run_loop(work)
    console.print(summary(done), highlight=False, soft_wrap=True, markup=False)
    if advices := advice(done):
        line = Text.assemble(("error:", "bold red"), " ", advices)
        OutputConsole(stderr=True).print(line, soft_wrap=True, highlight=False)
        raise typer.Exit(FAILED)


def summary(done: Reparsed) -> str:
    """Return the counts of a reparse as text, with the reasons of pages without an item and the first error."""
    lines = [f"pages parsed: {done.pages:,}, items: {done.items:,}, new or changed: {done.changed:,}"]
    if done.without_item:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(done.without_item.items()))
        lines.append(f"pages without an item: {reasons}")
    if "page_type" in done.without_item:
        lines.append("""to make articles of pages of every type: --parser-config '{"page_types": false}'""")
    if done.replaced:
        lines.append(f"fetched again meanwhile, with the items of the new page: {done.replaced:,}")
    if done.failed:
        lines.append(f"failed: {done.failed:,}, first: {done.error}")
    return "\n".join(lines)


def advice(done: Reparsed) -> str:
    """Return the remedies for damaged pages, for failures of the parser, and for own parsers that fit no page."""
    found = [f"{done.failed:,} of {done.pages:,} pages failed and keep the items that they had"] if done.failed else []
    if done.damaged:
        found.append(f"to fetch the {done.damaged:,} damaged pages again: {REPAIR_COMMANDS}")
    if done.failed > done.damaged:
        found.append("where the parser failed, mend it and run longline reparse again")
    if not done.parser_use.used:
        found += unused_parsers(done.parser_use)
    return "; ".join(found)
