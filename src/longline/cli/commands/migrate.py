"""`longline migrate`: pending migrations of the database."""

from typing import Annotated

import typer

from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.settings import Loaded, Settings
from longline.wiring import open_platform


@takes("data", "database")
def migrate(
    loaded: Loaded,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if a migration is pending.")
    ] = False,
) -> None:
    """Apply the pending migrations and print their names."""
    run(_check(loaded.settings) if check else _migrate(loaded.settings))


async def _migrate(settings: Settings) -> None:
    async with open_platform(settings) as platform:
        applied = await platform.records.schema.migrate()
        typer.echo(
            f"{await platform.records.schema.version()}: " + (f"{len(applied)} applied" if applied else "up to date")
        )
    for name in applied:
        typer.echo(f"  {name}")


async def _check(settings: Settings) -> None:
    async with open_platform(settings, reading=True) as platform:
        pending = await platform.records.schema.pending()
    for name in pending:
        typer.echo(f"pending: {name}")
    if pending:
        raise typer.Exit(1)
    typer.echo("up to date")
