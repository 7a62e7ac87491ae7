"""`longline recrawls …`: pages that are submitted by their URLs and fetched again after a while."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.duration import HOUR_MS
from longline.model.errors import BadInput
from longline.model.recrawls.recrawl import PRIORITY_STEP
from longline.model.recrawls.recrawl_lists import PHASES, RecrawlPage, RecrawlQuery, RecrawlRow, RecrawlStats
from longline.model.timestamps import written
from longline.services.recrawls.recrawls import RecrawlOrder
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.subjects.recrawls import RecrawlServices, recrawl_services

T = TypeVar("T")

AUTHOR = "admin"
"""Author of recrawls that an operator submits."""

MAX_URLS = 10_000
NEVER = "never"
"""Frequency of pages that are crawled once."""

SourceId = Annotated[int | None, typer.Option(help="Number of a source.", min=1, show_default=False)]
BatchId = Annotated[int | None, typer.Option(help="Number of a batch.", min=1, show_default=False)]
Priority = Annotated[int, typer.Option(help="1 is the most urgent, 10 the least.", min=1, max=10)]
TaskIds = Annotated[list[int], typer.Argument(help="Numbers of recrawls.", show_default=False)]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(
        help="Submit pages that are crawled again after a while; list and move them.", no_args_is_help=True
    )
    commands = {
        "list": show_list,
        "show": show,
        "submit": submit,
        "pause": pause,
        "resume": resume,
        "cancel": cancel,
        "restart": restart,
        "restart-failed": restart_failed,
        "reparse": reparse,
        "priority": prioritize,
        "stats": stats,
    }
    for name, command in commands.items():
        app.command(name)(command)
    return app


@asynccontextmanager
async def opened(loaded: Loaded) -> AsyncIterator[RecrawlServices]:
    """Open the services of recrawls on an existing database."""
    async with open_platform(loaded.settings, reading=True) as platform:
        await migrate_tables(platform, may_migrate=False)
        yield recrawl_services(platform)


@takes("data", "database")
def show_list(
    loaded: Loaded,
    source_id: SourceId = None,
    phase: Annotated[str | None, typer.Option(help=f"Phase: {', '.join(PHASES)}.", show_default=False)] = None,
    batch_id: BatchId = None,
    limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=1000)] = 100,
) -> None:
    """List recrawls, newest first."""
    known = next((one for one in PHASES if one == phase), None)
    if phase is not None and known is None:
        raise BadInput(f'--phase: there is no phase "{phase}"; there are {", ".join(PHASES)}')
    query = RecrawlQuery(source_id=source_id, phase=known, batch_id=batch_id)

    async def work() -> RecrawlPage:
        async with opened(loaded) as services:
            return await services.recrawls.find(query, limit=limit, offset=0)

    found = read(loaded, work)
    numbers = (Column("id", copied=True, right=True), "source", "phase", Column("priority", right=True))
    listing = Listing(*numbers, Column("generation", right=True), "due", Column("URL", copied=True))
    for row in found.rows:
        facts = (row.phase, str(row.priority // PRIORITY_STEP), str(row.generation), written(row.due_at))
        listing.add(str(row.id), row.source_name, *facts, row.url)
    listing.print()
    more = "more than " if found.is_bounded else ""
    listing.note(f"{len(found.rows)} of {more}{found.total} recrawls")


@takes("data", "database")
def show(loaded: Loaded, task_id: Annotated[int, typer.Argument(help="Number of the recrawl.")]) -> None:
    """Print a recrawl as JSON."""

    async def work() -> RecrawlRow:
        async with opened(loaded) as services:
            return await services.recrawls.get(task_id)

    typer.echo(msgspec.json.encode(read(loaded, work)).decode())


@takes("data", "database")
def submit(
    loaded: Loaded,
    source_id: Annotated[int, typer.Option(help="Number of the source.", min=1, show_default=False)],
    urls: Annotated[list[str] | None, typer.Argument(help="URLs of pages.", show_default=False)] = None,
    file: Annotated[Path | None, typer.Option(help="File with a URL on each line.", show_default=False)] = None,
    priority: Priority = 5,
    every: Annotated[str | None, typer.Option(help="Time between two crawls, such as 12 hours, or never.")] = None,
    batch_id: BatchId = None,
) -> None:
    """Submit pages of a source; known URLs are counted and left alone."""
    wanted = [*(urls or ()), *(_lines(file) if file else ())]
    if not 0 < len(wanted) <= MAX_URLS:
        raise BadInput(f"give 1 to {MAX_URLS} URLs, as arguments or in --file")
    order = RecrawlOrder(
        source_id=source_id,
        created_by=AUTHOR,
        priority=priority,
        frequency=None if every == NEVER else every,
        recurring=every != NEVER,
        batch_id=batch_id,
    )

    async def work() -> str:
        async with opened(loaded) as services:
            made = await services.recrawls.submit_all(wanted, order)
            return f"{len(made.ids)} submitted, {made.duplicates} known or repeated, {made.invalid} invalid"

    typer.echo(run_change("task.submit", work()))


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {file}: {error}") from None


@takes("data", "database")
def pause(loaded: Loaded, task_ids: TaskIds) -> None:
    """Pause recrawls that wait or are leased by a worker."""

    async def move(services: RecrawlServices, task_id: int) -> RecrawlRow:
        return (await services.orders.pause(task_id))[1]

    _move(loaded, "task.pause", task_ids, move)


@takes("data", "database")
def resume(loaded: Loaded, task_ids: TaskIds) -> None:
    """Resume paused recrawls; they are due at once."""

    async def move(services: RecrawlServices, task_id: int) -> RecrawlRow:
        return (await services.orders.resume(task_id))[1]

    _move(loaded, "task.resume", task_ids, move)


@takes("data", "database")
def cancel(loaded: Loaded, task_ids: TaskIds) -> None:
    """Cancel recrawls; they have no next generation."""
    _move(loaded, "task.cancel", task_ids, lambda services, task_id: services.orders.cancel(task_id))


@takes("data", "database")
def restart(
    loaded: Loaded,
    task_ids: TaskIds,
    keep_retries: Annotated[bool, typer.Option("--keep-retries", help="Go on counting retries.")] = False,
) -> None:
    """Fetch recrawls in any phase again."""

    async def move(services: RecrawlServices, task_id: int) -> RecrawlRow:
        return await services.orders.restart(task_id, reset_retries=not keep_retries)

    _move(loaded, "task.restart", task_ids, move)


@takes("data", "database", "objects")
def reparse(loaded: Loaded, task_ids: TaskIds) -> None:
    """Parse the archived pages of recrawls again, without a request."""
    _move(loaded, "task.reparse", task_ids, lambda services, task_id: services.orders.reparse(task_id))


@takes("data", "database")
def prioritize(loaded: Loaded, task_ids: TaskIds, priority: Priority) -> None:
    """Give recrawls another priority."""

    async def move(services: RecrawlServices, task_id: int) -> RecrawlRow:
        return (await services.orders.prioritize(task_id, priority))[1]

    _move(loaded, "task.prioritize", task_ids, move)


@takes("data", "database")
def restart_failed(
    loaded: Loaded,
    source_id: SourceId = None,
    limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=10_000)] = 1000,
) -> None:
    """Restart failed recrawls, the oldest failures first."""

    async def work() -> list[int]:
        async with opened(loaded) as services:
            return await services.orders.restart_failed(source_id=source_id, limit=limit)

    typer.echo(f"{len(run_change('task.restart', work()))} recrawls restarted")


@takes("data", "database")
def stats(
    loaded: Loaded,
    source_id: SourceId = None,
    hours: Annotated[int, typer.Option(help="Age of the oldest recrawl that counts, in hours.", min=1)] = 24,
) -> None:
    """Show the number of recrawls in each phase, by the time of their creation."""

    async def work() -> RecrawlStats:
        async with open_platform(loaded.settings, reading=True) as platform:
            await migrate_tables(platform, may_migrate=False)
            services = recrawl_services(platform)
            return await services.recrawls.stats(platform.clock.now() - hours * HOUR_MS, source_id)

    found = read(loaded, work)
    listing = Listing("phase", Column("recrawls", right=True))
    for phase in PHASES:
        if found.by_phase.get(phase):
            listing.add(phase, str(found.by_phase[phase]))
    listing.print()
    listing.note(f"{found.total} recrawls, {found.later_generations} of them later generations")


def _move(
    loaded: Loaded,
    action: str,
    task_ids: Sequence[int],
    move: Callable[[RecrawlServices, int], Awaitable[RecrawlRow]],
) -> None:
    """Move recrawls one after the other; print each as it is afterwards."""

    async def work() -> list[RecrawlRow]:
        async with opened(loaded) as services:
            return [await move(services, task_id) for task_id in task_ids]

    for row in run_change(action, work()):
        typer.echo(f"{row.id}: {row.phase}, priority {row.priority // PRIORITY_STEP}")
