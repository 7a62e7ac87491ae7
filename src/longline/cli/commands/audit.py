"""`longline audit`: changes that callers of the HTTP APIs and operators of the command line made."""

import time
from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer

from longline.cli.data_folder import read_rows
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.services.callers.audit_trail import AuditTrail
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables


@takes("data", "database")
def audit(
    loaded: Loaded,
    by: Annotated[str, typer.Option(help="Subject of the caller.")] = "",
    action: Annotated[str, typer.Option(help="Action like source.enable, or source. for all of sources.")] = "",
    thing: Annotated[str, typer.Option(help="Id of the thing that was changed.")] = "",
    since: Annotated[str, typer.Option(help="Age of the oldest change, like 2h or 7d.", metavar="DURATION")] = "",
    limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=10_000)] = 100,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, a line for each change.")] = False,
) -> None:
    """List changes by people and programs, the latest first: who changed what, and when."""
    wanted = AuditFilter(by or None, action or None, thing=thing or None, since=_since(since))

    async def work() -> list[AuditRow]:
        async with open_platform(loaded.settings, reading=True) as platform:
            await migrate_tables(platform, may_migrate=False)
            return await AuditTrail(platform.records.audit).find(wanted, limit)

    rows = read_rows(loaded, work)
    if json:
        for row in rows:
            typer.echo(_json(row))
        return
    _list(rows)


def _list(rows: list[AuditRow]) -> None:
    listing = Listing("time", "by", "role", "API", "action", Column("thing", copied=True), "address", "reason")
    for row in rows:
        listing.add(
            _time(row.at), row.name, row.role or "–", row.door, row.action, row.thing, row.address, row.reason or ""
        )
    listing.print()
    if not rows:
        typer.echo("no changes are audited for this choice", err=True)


def _since(age: str) -> int | None:
    """Return the UTC milliseconds before which changes are left out."""
    if not age:
        return None
    try:
        return time.time_ns() // 1_000_000 - round(parse_duration(age) * 1000)
    except ValueError:
        raise BadInput(f'--since "{age}" is not a duration like 2h or 7d') from None


def _json(row: AuditRow) -> str:
    states = {name: msgspec.Raw(text.encode()) for name in ("before", "after") if (text := getattr(row, name))}
    shown = msgspec.structs.asdict(row) | states | {"at": _time(row.at)}
    return msgspec.json.encode(shown).decode()


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
