"""`longline doctor`: looks at everything the platform stands on and says what to do."""

import importlib.metadata
import platform
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longline.cli.flags import ENGINES, takes
from longline.cli.loop import run
from longline.model.errors import LonglineError
from longline.settings import Loaded, Settings, prepare
from longline.settings.folder import SECRET_NAME
from longline.surfaces.server import bind
from longline.wiring import House, open_house

Verdict = Literal["ok", "warn", "fail"]

_COLOURS: dict[Verdict, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_PACKAGES = ("asyncpg", "litestar", "msgspec", "obstore", "uvicorn", "uvloop", "wreq")
_OLDEST_SQLITE = (3, 35, 0)
_SCARCE_BYTES, _NO_BYTES = 1024**3, 64 * 1024**2
_DRIFT_MS, _TOO_FAR_MS = 1_000, 10_000


class Row(NamedTuple):
    """One thing that was looked at; `advice` is for whoever must mend it."""

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


@takes("host", "port", *ENGINES)
def doctor(loaded: Loaded) -> None:
    """Check versions, the data folder, the engines, the clock and the port, and say what to do."""
    settings = loaded.settings
    rows = [*versions(), overview(loaded), folder(settings), secret(settings), port(settings), *run(engines(settings))]
    Console().print(_table(rows))
    if any(row.verdict == "fail" for row in rows):
        raise typer.Exit(1)


def _table(rows: list[Row]) -> Table:
    table = Table("check", "", "found", "what to do", box=None)
    for row in rows:
        # As Text: what engines say may hold brackets, which would be read as colours.
        table.add_row(row.name, Text(row.verdict, _COLOURS[row.verdict]), Text(row.found), Text(row.advice))
    return table


def versions() -> list[Row]:
    """What is installed."""
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    old = sqlite3.sqlite_version_info < _OLDEST_SQLITE
    sqlite = Row("sqlite", "fail" if old else "ok", sqlite3.sqlite_version, "3.35 or newer is needed" if old else "")
    return [Row("python", "ok", platform.python_version()), Row("packages", "ok", found), sqlite]


def overview(loaded: Loaded) -> Row:
    """Whether settings do what their owner expects."""
    if loaded.notes:
        return Row("settings", "warn", "; ".join(loaded.notes), "remove what has no effect")
    given = sum(origin != "default" for origin in loaded.origins.values())
    return Row("settings", "ok", f"{given} given, the rest by default")


def folder(settings: Settings) -> Row:
    """Whether the data folder can be written to and has room."""
    try:
        free = shutil.disk_usage(prepare(settings.data)).free
    except LonglineError as error:
        return Row("data folder", "fail", str(error), "give the folder to this user or name another with --data")
    found = f"{settings.data}, {free / 1024**3:.1f} GB free"
    if free < _SCARCE_BYTES:
        return Row("data folder", "fail" if free < _NO_BYTES else "warn", found, "make room on this disk")
    return Row("data folder", "ok", found)


def secret(settings: Settings) -> Row:
    """Whether tokens can be signed, and by us alone."""
    path = settings.data / SECRET_NAME
    if settings.jwt_secret:
        return Row("secret", "ok", "given in settings")
    if not path.exists():
        return Row("secret", "ok", "none yet; made on first use")
    if path.stat().st_mode & 0o077:
        return Row("secret", "warn", f"{path} can be read by others", f"chmod 600 {path}")
    return Row("secret", "ok", str(path))


def port(settings: Settings) -> Row:
    """Whether the server could listen."""
    where = f"{settings.port} on {settings.host}"
    try:
        bind(settings.host, settings.port).close()
    except LonglineError as error:
        return Row("port", "warn", str(error), "nothing, if that is this platform running")
    return Row("port", "ok", f"{where} is free")


async def engines(settings: Settings) -> list[Row]:
    """Whether every engine answers."""
    try:
        async with open_house(settings) as house:
            carrier = "redis" if settings.redis else "signals"
            return [
                await _ask("database", lambda: _database(house), "start it, or correct --database"),
                await _ask("clock", lambda: clock(house), "see the database"),
                await _ask("objects", lambda: _say("objects", house.blobs.check), "correct --objects or its rights"),
                await _ask(carrier, lambda: _say(carrier, house.signals.check), "start it, or correct --redis"),
            ]
    except LonglineError as error:
        return [Row("engines", "fail", str(error), "mend this first; the engines could not be opened")]


async def _ask(name: str, look: Callable[[], Awaitable[Row]], advice: str) -> Row:
    try:
        return await look()
    except LonglineError as error:
        return Row(name, "fail", str(error), advice)


async def _say(name: str, check: Callable[[], Awaitable[str]]) -> Row:
    return Row(name, "ok", await check())


async def _database(house: House) -> Row:
    found, pending = await house.records.schema.version(), await house.records.schema.pending()
    if pending:
        return Row("database", "warn", f"{found}, {len(pending)} migrations pending", "longline migrate")
    return Row("database", "ok", found)


async def clock(house: House) -> Row:
    """Return how far this machine's wall clock is from the engine's time, by which leases and pauses are kept."""
    before = house.clock.wall()
    theirs = await house.records.schema.now()
    offset = theirs - (before + house.clock.wall()) // 2
    found = f"{abs(offset)} ms {'ahead of' if offset < 0 else 'behind'} the database"
    far = abs(offset)
    verdict: Verdict = "ok" if far < _DRIFT_MS else "warn" if far < _TOO_FAR_MS else "fail"
    return Row("clock", verdict, found, "" if verdict == "ok" else "set both clocks by NTP")
