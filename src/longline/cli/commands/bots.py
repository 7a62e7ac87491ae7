"""`longline bots …`: registration of bots, and release of their expired locks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read_rows
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.bots.bot import BotRow, NewBot
from longline.model.errors import BadInput
from longline.settings import Loaded
from longline.surfaces.bots.field_types import share
from longline.surfaces.bots.services import BotServices
from longline.wiring import open_platform
from longline.wiring.doors.bots import bot_services
from longline.wiring.platform import migrate_tables

MAX_SHOWN = 10_000

BotId = Annotated[str, typer.Option("--bot-id", help="Name of the bot.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; print the counts.")]
Limit = Annotated[int, typer.Option("--limit", help="Maximum number.", min=1)]
RateLimit = typer.Option("--rate-limit", help="Requests a minute; 0 is no limit.", min=0)
MaxJobs = typer.Option("--max-jobs", help="Maximum number of jobs in one pull.", min=1, max=100)
LockSeconds = typer.Option(
    "--lock-seconds", help="Lifetime of locks in seconds; 0 is the lifetime that the job names.", min=0
)


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Register and switch bots, and release expired locks.", no_args_is_help=True)
    named = {
        "create": create,
        "change": change,
        "enable": enable,
        "disable": disable,
        "rotate-token": rotate,
        "list": show,
    }
    for name, command in {**named, "expire-locks": expire_locks}.items():
        app.command(name)(command)
    return app


@asynccontextmanager
async def services(loaded: Loaded) -> AsyncIterator[BotServices]:
    """Open the engines and yield the services of the bot contract."""
    async with open_platform(loaded.settings, reading=True) as platform:
        await migrate_tables(platform, may_migrate=False)
        yield bot_services(platform)


@takes("data", "database")
def create(
    loaded: Loaded,
    bot_id: BotId,
    name: Annotated[str, typer.Option(help="Display name of the bot.")] = "",
    max_jobs: Annotated[int, MaxJobs] = 10,
    rate_limit: Annotated[int, RateLimit] = 60,
    lock_seconds: Annotated[int, LockSeconds] = 0,
) -> None:
    """Register a bot and print its token, which is shown once."""

    async def work() -> str:
        limits = _limits(max_jobs, rate_limit, lock_seconds)
        async with services(loaded) as bots:
            made = await bots.registry.register(NewBot(name=bot_id, title=name, **limits))
        if made is None:
            raise BadInput(f"bot {bot_id} is already registered")
        return made[1]

    if not 0 < len(bot_id.strip()) <= 100:
        raise BadInput("--bot-id must have 1 to 100 characters")
    typer.echo(run_change("bot.register", work()))


@takes("data", "database")
def change(
    loaded: Loaded,
    bot_id: BotId,
    name: Annotated[str | None, typer.Option(help="Display name of the bot.")] = None,
    max_jobs: Annotated[int | None, MaxJobs] = None,
    rate_limit: Annotated[int | None, RateLimit] = None,
    lock_seconds: Annotated[int | None, LockSeconds] = None,
) -> None:
    """Change the limits of a bot; options that are not given keep their values."""
    changes = _limits(max_jobs, rate_limit, lock_seconds) | ({} if name is None else {"title": name})
    if not changes:
        raise BadInput("nothing to change: give --name, --max-jobs, --rate-limit or --lock-seconds")

    async def work() -> None:
        async with services(loaded) as bots:
            await bots.registry.change(bot_id, **changes)

    run_change("bot.change", work())
    typer.echo(f"{bot_id}: changed")


def _limits(max_jobs: int | None, rate_limit: int | None, lock_seconds: int | None) -> dict[str, Any]:
    """Return the given limits in their stored form; the registry takes a zero for no limit."""
    lease_ms = None if lock_seconds is None else lock_seconds * 1000
    limits = {"max_pull": max_jobs, "per_minute": rate_limit, "lease_ms": lease_ms}
    return {name: limit for name, limit in limits.items() if limit is not None}


@takes("data", "database")
def enable(loaded: Loaded, bot_id: BotId) -> None:
    """Enable a bot."""
    _switch(loaded, bot_id, True)


@takes("data", "database")
def disable(loaded: Loaded, bot_id: BotId) -> None:
    """Disable a bot; its token is refused."""
    _switch(loaded, bot_id, False)


def _switch(loaded: Loaded, bot_id: str, enabled: bool) -> None:
    async def work() -> None:
        async with services(loaded) as bots:
            await bots.registry.change(bot_id, enabled=enabled)

    run_change("bot.enable" if enabled else "bot.disable", work())
    typer.echo(f"{bot_id}: {'enabled' if enabled else 'disabled'}")


@takes("data", "database")
def rotate(loaded: Loaded, bot_id: BotId) -> None:
    """Print a new token for a bot; the old token is refused at once."""

    async def work() -> str:
        async with services(loaded) as bots:
            return (await bots.registry.rotate(bot_id))[1]

    typer.echo(run_change("bot.rotate_token", work()))


@takes("data", "database")
def show(loaded: Loaded) -> None:
    """List the registered bots."""

    async def work() -> list[BotRow]:
        async with services(loaded) as bots:
            return await bots.registry.find(limit=MAX_SHOWN, offset=0)

    found = read_rows(loaded, work)
    numbers = (Column(title, right=True) for title in ("a minute", "pulled", "done", "failed", "success"))
    listing = Listing(Column("bot", copied=True), "name", "enabled", Column("token", copied=True), *numbers)
    for row in found:
        figures = (str(row.pulled), str(row.completed), str(row.failed), f"{share(row.completed, row.failed):.1f}%")
        limit = "any" if row.per_minute is None else str(row.per_minute)
        listing.add(row.name, row.title, "yes" if row.enabled else "no", f"{row.preview}…", limit, *figures)
    listing.print()
    if not found:
        listing.note("no bots; register one with: longline bots create --bot-id NAME")


@takes("data", "database")
def expire_locks(
    loaded: Loaded,
    auto_retry: Annotated[
        bool, typer.Option("--auto-retry", help="Return jobs to the queue; each return counts as a retry.")
    ] = False,
    limit: Limit = 1000,
    dry_run: DryRun = False,
) -> None:
    """Release expired locks."""

    async def work() -> str:
        async with services(loaded) as bots:
            swept = await bots.policies.sweep(limit, retry=auto_retry, dry=dry_run)
        return f"expired {swept.expired}, requeued {swept.requeued}, failed {swept.failed}"

    typer.echo(run_change("task.sweep", work()))
