"""`longline page`: one page out of the archive."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, REPAIR_COMMANDS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.cli.listing import without_controls
from longline.services.archive.pages import ArchivedPage, DamagedPage
from longline.settings import Loaded
from longline.wiring import read_page


@takes(*READ_KEYS)
def page(
    loaded: Loaded,
    which: Annotated[str, typer.Argument(help="URL of the page, or number of its task.", show_default=False)],
    headers: Annotated[bool, typer.Option("--headers", help="Print metadata and headers instead of the body.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the article of the page as Markdown instead of the body.")
    ] = False,
) -> None:
    """Print the newest archived version of a page."""
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    try:
        found = run_loop(read_page(archive_settings(loaded), which))
    except DamagedPage as error:
        raise DamagedPage(f"{error}; to fetch it again: {REPAIR_COMMANDS}") from error
    if headers:
        typer.echo("\n".join(f"{name}: {_shown(value)}" for name, value in facts(found)))
    else:
        sys.stdout.buffer.write(_shown(found.markdown()).encode("utf-8", "replace") if markdown else found.body)
        sys.stdout.buffer.flush()


def _shown(text: str) -> str:
    return without_controls(text) if sys.stdout.isatty() else text


def facts(found: ArchivedPage) -> list[tuple[str, str]]:
    """Return the facts about a page, then its response headers."""
    row = found.row
    fetched = datetime.fromtimestamp(row.fetched_at / 1000, UTC).isoformat(timespec="milliseconds")
    place = f"{row.segment} {row.start} {row.length}"
    known = [("url", row.url), ("status", str(row.status)), ("fetched", fetched), ("digest", row.digest)]
    return [*known, ("task", str(row.task_id)), ("place", place), *found.record.headers]
