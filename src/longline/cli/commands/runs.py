"""`longline runs`: the runs of a data folder with the numbers by which other commands name them; their deletion."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from longline.cli import log_setup as logs
from longline.cli.audited_changes import run_change
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.urls.url_credentials import without_credentials
from longline.services.runs.run_list import ListedRun
from longline.settings import Loaded
from longline.wiring import delete_run, get_run, list_runs

RunNumber = Annotated[int, typer.Argument(help="Number of the run, as listed.", min=1, show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without a question.")]
Force = Annotated[bool, typer.Option("--force", help="Delete a run whose items a sink has not got yet, too.")]


def build() -> typer.Typer:
    """Return the command group; without a command it lists the runs."""
    app = typer.Typer(help="List the runs, newest first, with their numbers, or delete one.")
    app.callback(invoke_without_command=True)(runs)
    app.command()(delete)
    return app


@takes(*READ_KEYS)
def runs(
    loaded: Loaded,
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Maximum number of runs.", min=1, max=10_000)] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Show polls of feeds, single URLs, tasks of bots and repairs as well.")
    ] = False,
) -> None:
    """List the runs, newest first, with their numbers for urls, export, diff and reparse. Times are in UTC.

    The run of a schedule has the schedule's id in the HTTP API and the number of its execution. Off a terminal each run
    is a line of values between tabs: run, start, end, kind, state, pages, items, failed, source or URL, schedule,
    execution. The items are those that the run has now: longline reparse changes them, and export writes as many.
    """
    if context.invoked_subcommand is not None:
        return
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    found = run_loop(list_runs(archive_settings(loaded), limit, everything=everything))
    print_runs(found, Listing(*columns(found)))


@takes(*READ_KEYS)
def delete(loaded: Loaded, run: RunNumber, yes: Yes = False, force: Force = False) -> None:
    """Delete an ended run with its tasks, pages, items, log and events.

    Bodies that a later crawl may refer to stay for the time of the setting retention_visits. A run that goes on, or
    whose items a sink has not got yet, is refused.
    """
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    settings = archive_settings(loaded)
    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter("there is no terminal to ask at; give --yes to delete the run")
        found = run_loop(get_run(settings, run))
        place = without_credentials(found.seed)
        typer.confirm(f"Delete run {found.id} of {place} with {found.completed} pages?", abort=True, err=True)
    run_change("run.delete", delete_run(settings, run, forced=force))
    typer.echo(f"run {run} is deleted")


def columns(found: list[ListedRun]) -> list[str | Column]:
    """Return the columns of a list; on a terminal those of schedules only if there are any."""
    numbers = (Column(title, right=True) for title in ("pages", "items", "failed"))
    times = (Column(title, copied=True) for title in ("start", "end"))
    known: list[str | Column] = [Column("run", copied=True, right=True), *times, "kind", "state", *numbers]
    schedule = (Column("schedule", copied=True), Column("execution", right=True)) if _scheduled(found) else ()
    return [*known, Column("source or URL", copied=True), *schedule]


def print_runs(found: list[ListedRun], listing: Listing) -> None:
    """Print runs."""
    scheduled = _scheduled(found) or not listing.is_table
    for listed in found:
        run = listed.run
        counts = (f"{number:,}" if listing.is_table else str(number) for number in _counts(listed))
        place = listed.source or without_credentials(run.seed)
        number = "" if run.number is None else str(run.number)
        known = (str(run.id), _time(run.started_at), _time(run.ended_at), run.kind.value, run.state)
        listing.add(*known, *counts, place, *((listed.schedule, number) if scheduled else ()))
    listing.print()
    if not found:
        listing.note("no runs yet; longline crawl URL starts one")


def _scheduled(found: list[ListedRun]) -> bool:
    return any(listed.schedule for listed in found)


def _counts(listed: ListedRun) -> tuple[int, int, int]:
    return listed.run.completed, listed.run.items, listed.run.failed


def _time(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S}"
