"""`longline keys …`: API keys of programs that call the HTTP APIs."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated

import typer

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read_rows
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.callers.api_key import ApiKeyRow, NewApiKey
from longline.model.callers.door import DOORS
from longline.model.callers.roles import Role
from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.services.callers.api_keys import ApiKeys
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.subjects.callers import api_keys

ROLES = (Role.ADMIN, Role.MODERATOR, Role.MEMBER, Role.SERVICE)
MAX_SHOWN = 1000


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
    for name, command in {"create": create, "list": show, "revoke": revoke}.items():
        app.command(name)(command)
    return app


@asynccontextmanager
async def _keys(loaded: Loaded) -> AsyncIterator[ApiKeys]:
    async with open_platform(loaded.settings, reading=True) as platform:
        await migrate_tables(platform, may_migrate=False)
        yield api_keys(platform)


@takes("data", "database")
def create(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="Name of the program that gets the key.", show_default=False)],
    door: Annotated[str, typer.Option(help=f"The API that the key opens: {', '.join(DOORS)}.", show_default=False)],
    role: Annotated[str, typer.Option(help=f"Role of the bearer: {', '.join(ROLES)}.")] = Role.SERVICE.value,
    tenant: Annotated[str, typer.Option(help="Tenant of the bearer, at an API with tenants.")] = "",
    rate_limit: Annotated[int, typer.Option(help="Requests a minute; 0 is no limit.", min=0)] = 0,
    ttl: Annotated[str, typer.Option(help="Lifetime of the key; if not given, no end.", metavar="DURATION")] = "",
) -> None:
    """Create an API key and print it; the key is shown once."""
    if door not in DOORS:
        raise BadInput(f'--door: there is no API "{door}"; there are {", ".join(DOORS)}')
    if role not in ROLES:
        raise BadInput(f'--role: a key cannot have the role "{role}"; it can have {", ".join(ROLES)}')
    new = NewApiKey(name, door, Role(role), tenant, rate_limit or None, _end(ttl))

    async def work() -> str:
        async with _keys(loaded) as keys:
            return (await keys.create(new))[1]

    typer.echo(run_change("key.create", work()))


def _end(ttl: str) -> int | None:
    """Return the UTC milliseconds at which a key with this lifetime ends."""
    if not ttl:
        return None
    try:
        seconds = parse_duration(ttl)
    except ValueError:
        seconds = 0
    if seconds < 1:
        raise BadInput(f'--ttl "{ttl}" is not a duration of at least 1s, like 12h or 90d')
    return time.time_ns() // 1_000_000 + round(seconds * 1000)


@takes("data", "database")
def show(loaded: Loaded) -> None:
    """List the API keys, newest first, without their secrets."""

    async def work() -> list[ApiKeyRow]:
        async with _keys(loaded) as keys:
            return await keys.find(MAX_SHOWN)

    listing = Listing(
        Column("id", copied=True), "name", "API", "role", "tenant", Column("a minute", right=True), "last used", "state"
    )
    for row in read_rows(loaded, work):
        limit = "any" if row.per_minute is None else str(row.per_minute)
        used = "never" if row.last_used_at is None else _time(row.last_used_at)
        listing.add(row.uid, row.name, row.door, row.role, row.tenant or "–", limit, used, _state(row))
    listing.print()
    if not listing.count:
        typer.echo("no API keys; create one with longline keys create", err=True)


def _state(row: ApiKeyRow) -> str:
    if row.revoked_at is not None:
        return f"revoked {_time(row.revoked_at)}"
    return "in force" if row.expires_at is None else f"until {_time(row.expires_at)}"


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


@takes("data", "database")
def revoke(
    loaded: Loaded,
    key_id: Annotated[str, typer.Argument(help="Id of the key, as listed.", show_default=False)],
) -> None:
    """Revoke an API key for good; the next request with it is refused."""

    async def work() -> ApiKeyRow:
        async with _keys(loaded) as keys:
            return await keys.revoke(key_id)

    row = run_change("key.revoke", work())
    typer.echo(f"{row.uid} {row.name}: revoked")
