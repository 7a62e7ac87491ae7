"""`longline sources …`: sources and their budgets."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.model.sources.source import SourceQuery, SourceRow
from longline.model.url import without_credentials
from longline.services.sources.sources import Sources
from longline.settings import Loaded
from longline.wiring import open_house
from longline.wiring.house import House, migrate_tables

SourceId = Annotated[int, typer.Option("--id", help="Number of the source.", min=1)]
Most = Annotated[int | None, typer.Option("--most", help="URLs that all runs of the source together may admit.", min=1)]
Limit = Annotated[int, typer.Option("--limit", help="Maximum number.", min=1, max=1000)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="List sources and limit their URLs.", no_args_is_help=True)
    for name, command in {"list": show, "budget": budget}.items():
        app.command(name)(command)
    return app


@takes("data", "database")
def budget(
    loaded: Loaded,
    source_id: SourceId,
    most: Most = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the limit.")] = False,
) -> None:
    """Limit the URLs that all runs of a source together may admit; URLs admitted before count."""
    if (most is None) != none:
        raise typer.BadParameter("give either --most or --none")

    async def work() -> SourceRow:
        async with open_house(loaded.settings) as house:
            return await (await _sources(house)).limit(source_id, most)

    row = run(work())
    bound = "no budget" if row.budget is None else f"{row.admitted} of {row.budget} admitted"
    typer.echo(f"{row.id} {row.name}: {bound}")


@takes("data", "database")
def show(loaded: Loaded, limit: Limit = 100) -> None:
    """List the sources by name, with their budgets."""

    async def work() -> list[SourceRow]:
        async with open_house(loaded.settings) as house:
            return (await (await _sources(house)).find(SourceQuery(), limit, 0))[0]

    table = Table("id", "name", "URL", "enabled", "budget", "admitted")
    for row in run(work()):
        spent = ("–", "–") if row.budget is None else (str(row.budget), str(row.admitted))
        table.add_row(str(row.id), row.name, without_credentials(row.base_url), "yes" if row.enabled else "no", *spent)
    Console().print(table)


async def _sources(house: House) -> Sources:
    await migrate_tables(house, may_migrate=False)
    return Sources(house.records.sources, house.records.feeds, house.clock)
