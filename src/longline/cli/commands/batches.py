"""`longline batches …`: labels for recrawls that are moved together."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from longline.cli.audited_changes import run_change
from longline.cli.commands.recrawls import opened
from longline.cli.data_folder import read, read_rows
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.recrawls.recrawl_lists import PHASES, BatchRow
from longline.model.timestamps import written
from longline.services.recrawls.batches import Batches
from longline.settings import Loaded

BatchId = Annotated[int, typer.Argument(help="Number of the batch.", min=1, show_default=False)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Make batches of recrawls, and move all recrawls of a batch.", no_args_is_help=True)
    commands = {
        "list": show_list,
        "make": make,
        "show": show,
        "pause": pause,
        "resume": resume,
        "cancel": cancel,
        "restart": restart,
    }
    for name, command in commands.items():
        app.command(name)(command)
    return app


@takes("data", "database")
def show_list(
    loaded: Loaded, limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=1000)] = 100
) -> None:
    """List batches, newest first."""

    async def work() -> list[BatchRow]:
        async with opened(loaded) as services:
            return (await services.batches.find(limit=limit, offset=0))[0]

    listing = Listing(Column("id", copied=True, right=True), "name", "made")
    for row in read_rows(loaded, work):
        listing.add(str(row.id), row.name, written(row.created_at))
    listing.print()
    if not listing.count:
        listing.note("no batches; make one with longline batches make NAME")


@takes("data", "database")
def make(loaded: Loaded, name: Annotated[str, typer.Argument(help="Name of the batch.", show_default=False)]) -> None:
    """Make a batch; recrawls name it when they are submitted."""

    async def work() -> BatchRow:
        async with opened(loaded) as services:
            return await services.batches.make(name)

    row = run_change("batch.create", work())
    typer.echo(f"{row.id} {row.name}")


@takes("data", "database")
def show(loaded: Loaded, batch_id: BatchId) -> None:
    """Show the number of a batch's recrawls in each phase."""

    async def work() -> BatchRow:
        async with opened(loaded) as services:
            return await services.batches.get(batch_id)

    row = read(loaded, work)
    listing = Listing("phase", Column("recrawls", right=True))
    for phase in PHASES:
        if row.counts.get(phase):
            listing.add(phase, str(row.counts[phase]))
    listing.print()
    listing.note(f"{row.name}: {row.total} recrawls")


@takes("data", "database")
def pause(loaded: Loaded, batch_id: BatchId) -> None:
    """Pause the recrawls of a batch that can be paused."""
    _move(loaded, "task.pause", "paused", lambda batches: batches.pause(batch_id))


@takes("data", "database")
def resume(loaded: Loaded, batch_id: BatchId) -> None:
    """Resume the paused recrawls of a batch."""
    _move(loaded, "task.resume", "resumed", lambda batches: batches.resume(batch_id))


@takes("data", "database")
def cancel(loaded: Loaded, batch_id: BatchId) -> None:
    """Cancel the recrawls of a batch."""
    _move(loaded, "task.cancel", "cancelled", lambda batches: batches.cancel(batch_id))


@takes("data", "database")
def restart(
    loaded: Loaded,
    batch_id: BatchId,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Restart failed recrawls only.")] = False,
) -> None:
    """Fetch the recrawls of a batch again."""
    _move(loaded, "task.restart", "restarted", lambda batches: batches.restart(batch_id, only_failed=only_failed))


def _move(loaded: Loaded, action: str, verb: str, move: Callable[[Batches], Awaitable[list[int]]]) -> None:
    async def work() -> list[int]:
        async with opened(loaded) as services:
            return await move(services.batches)

    typer.echo(f"{len(run_change(action, work()))} recrawls {verb}")
