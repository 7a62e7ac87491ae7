"""`longline maintenance …`: tasks of upkeep that run by cron, or now."""

from typing import Annotated

import msgspec
import typer

from longline.cli.audited_changes import operator_order, run_change
from longline.cli.data_folder import read
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.maintenance.maintenance_run import MaintenanceRunRow, MaintenanceSchedule
from longline.model.timestamps import written
from longline.services.maintenance import TaskOverview
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.subjects.runs import maintenance

Task = Annotated[str, typer.Argument(help="Name of the task.", show_default=False)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="List maintenance tasks, run one now, change their times.", no_args_is_help=True)
    for name, command in {"list": show_list, "run": run_now, "schedule": schedule}.items():
        app.command(name)(command)
    return app


@takes("data", "database")
def show_list(loaded: Loaded) -> None:
    """List the tasks, their cron expressions in UTC, and their last runs."""

    async def work() -> list[TaskOverview]:
        async with open_platform(loaded.settings, reading=True) as platform:
            await migrate_tables(platform, may_migrate=False)
            return list(await maintenance(platform).tasks())

    listing = Listing(Column("task", copied=True), "cron", "next", "last run", "purpose")
    for task in read(loaded, work):
        times = task.schedule
        last = "–" if task.last is None else f"{task.last.state} {written(task.last.created_at)}"
        listing.add(task.key, times.cron, written(times.next_at) if times.enabled else "off", last, task.purpose)
    listing.print()


@takes("data", "database", "objects")
def run_now(loaded: Loaded, task: Task) -> None:
    """Run a task now, and print its result."""

    async def work() -> MaintenanceRunRow:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=False)
            return await maintenance(platform).run_now(task, operator_order("maintenance run.create").caller)

    row = run_change("maintenance run.create", work())
    shown = {"id": row.id, "task": row.task, "state": row.state, "rows": row.rows_changed, "error": row.error}
    typer.echo(msgspec.json.encode(shown | msgspec.json.decode(row.facts)).decode())
    if row.error:
        raise typer.Exit(1)


@takes("data", "database")
def schedule(
    loaded: Loaded,
    task: Task,
    cron: Annotated[
        str | None, typer.Option(help="Cron expression of five fields, in UTC.", show_default=False)
    ] = None,
    on: Annotated[bool | None, typer.Option("--on/--off", help="Whether the task starts by itself.")] = None,
) -> None:
    """Change the times at which a task starts by itself."""

    async def work() -> MaintenanceSchedule:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=False)
            return await maintenance(platform).reschedule(task, cron, on)

    row = run_change("maintenance schedule.update", work())
    typer.echo(f"{row.task}: {row.cron}, {'next ' + written(row.next_at) if row.enabled else 'off'}")
