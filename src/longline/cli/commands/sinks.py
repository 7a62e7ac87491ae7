"""`longline sinks …`: sinks, their positions and lags, and the ways to set a failing sink right."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from longline.cli.audited_changes import run_change
from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.cli.hints.command_lines import command
from longline.cli.listing import Column, Listing
from longline.model.duration import show_duration
from longline.model.sinks.sink import UNSEEN_MS, SinkLag, SinkRunLag
from longline.model.timestamps import written
from longline.model.urls.url_credentials import hide_credentials
from longline.services.sinks.sink_progress import SinkProgress
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.read_only_archive import open_archive
from longline.wiring.subjects.sinks import sink_progress

T = TypeVar("T")

Sink = Annotated[str, typer.Argument(help="Number or name of the sink, from `longline sinks list`.")]
Limit = Annotated[int, typer.Option("--limit", help="Maximum number of runs and items.", min=1, max=1000)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Show sinks and their lags, skip refused items.", no_args_is_help=True)
    for name, one in {"list": show_all, "show": show, "skip": skip, "retry": retry, "remove": remove}.items():
        app.command(name)(one)
    return app


@takes("data", "database")
def show_all(loaded: Loaded) -> None:
    """List the sinks: items that wait, were delivered and skipped, failures, and the last error."""
    found = _read(loaded, SinkProgress.lags)
    keys = (Column("id", copied=True, right=True), Column("name", copied=True), Column("sink", copied=True))
    numbers = (Column(title, right=True) for title in ("waiting", "delivered", "skipped", "held runs"))
    listing = Listing(*keys, *numbers, "state")
    for lag in found:
        counts = map(str, (lag.waiting, lag.delivered, lag.skipped, lag.held_runs))
        listing.add(str(lag.id), lag.name or "–", lag.label, *counts, _state(loaded, lag))
    listing.print()
    if not found:
        listing.note("no sinks; crawl --to and the setting sinks name them")


@takes("data", "database")
def show(loaded: Loaded, sink: Sink, limit: Limit = 20) -> None:
    """Show the positions of a sink in runs with waiting items, refused items, and skipped items."""

    async def work(progress: SinkProgress) -> None:
        lag = await progress.get(sink)
        titles = ("run", "position", "last item", "waiting", "refused item")
        listing = Listing(*(Column(title, right=True) for title in titles), "error")
        runs = await progress.runs(lag.id, limit)
        for one in runs:
            numbers = map(str, (one.run_id, one.position, one.last, one.last - one.position))
            listing.add(*numbers, "–" if one.refused is None else str(one.refused), one.error)
        listing.print(f"sink {lag.id} {lag.name or lag.label}")
        listing.note(f"{lag.title} {_state(loaded, lag)}")
        for one in runs:
            if one.refused is not None:
                listing.note(f"to skip the refused item of run {one.run_id}: {_skip_command(loaded, lag, one)}")
        for gone in await progress.skipped(lag.id, limit):
            place = f"run {gone.run_id}, position {gone.position}"
            listing.note(f"skipped at {written(gone.skipped_at)}: {place}: {gone.error}")

    _read(loaded, work)


@takes("data", "database")
def skip(
    loaded: Loaded,
    sink: Sink,
    run_id: Annotated[int, typer.Option("--run", help="Number of the run.", min=1)],
    position: Annotated[int, typer.Option("--position", help="Position of the next item of the run.", min=1)],
) -> None:
    """Leave out the next item of a run for a sink that refuses it; the item stays in the platform."""

    async def work(progress: SinkProgress) -> str:
        lag = await progress.get(sink)
        item = await progress.skip(lag.id, run_id, position)
        return f"sink {lag.title} never gets {item.kind} {item.url} of run {run_id}"

    typer.echo(_write(loaded, "sink.skip", work))


@takes("data", "database")
def retry(loaded: Loaded, sink: Sink) -> None:
    """Try a failed sink and its refused items at once instead of after their delay."""

    async def work(progress: SinkProgress) -> str:
        lag = await progress.get(sink)
        await progress.retry(lag.id)
        return f"sink {lag.title} is tried at once"

    typer.echo(_write(loaded, "sink.retry", work))


@takes("data", "database")
def remove(loaded: Loaded, sink: Sink) -> None:
    """Forget a sink that no process has any more, and its positions; the receiver keeps its items."""

    async def work(progress: SinkProgress) -> str:
        lag = await progress.get(sink)
        await progress.remove(lag)
        return f"sink {lag.title} is removed"

    typer.echo(_write(loaded, "sink.remove", work))


def _state(loaded: Loaded, lag: SinkLag) -> str:
    if lag.failures:
        since = show_duration(lag.failing_ms // 1000)
        return f"fails for {since}, {lag.failures} attempts: {lag.error}"
    if lag.held_runs:
        return f"refuses items: {command('sinks', 'show', str(lag.id), *_place(loaded))}"
    if lag.waiting and lag.unseen_ms > UNSEEN_MS:
        return "no process delivers to it"
    return "delivers" if lag.waiting else "has everything"


def _skip_command(loaded: Loaded, lag: SinkLag, one: SinkRunLag) -> str:
    words = ("--run", str(one.run_id), "--position", str(one.refused))
    return command("sinks", "skip", str(lag.id), *words, *_place(loaded))


def _place(loaded: Loaded) -> tuple[str, ...]:
    """Return the flags of a printed command for the folder and the database that flags of this command name."""
    settings, origins = loaded.settings, loaded.origins
    data = ("--data", str(settings.data.absolute())) if origins["data"] == "--data" else ()
    database = ("--database", hide_credentials(settings.database)) if origins["database"] == "--database" else ()
    return (*data, *database)


def _read(loaded: Loaded, work: Callable[[SinkProgress], Awaitable[T]]) -> T:
    async def opened() -> T:
        async with open_archive(loaded.settings) as archive:
            return await work(SinkProgress(archive.records.sink_progress, archive.records.items))

    return run(opened())


def _write(loaded: Loaded, action: str, work: Callable[[SinkProgress], Awaitable[T]]) -> T:
    async def opened() -> T:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=False)
            return await work(sink_progress(platform))

    return run_change(action, opened())
