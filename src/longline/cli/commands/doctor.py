"""`longline doctor`: checks of everything that the platform depends on, with advice."""

import importlib.metadata
import platform
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, NamedTuple

import typer
from rich.console import Console
from rich.progress import DownloadColumn
from rich.table import Table
from rich.text import Text

from longline.cli.commands.export import bar
from longline.cli.data_folder import kept
from longline.cli.event_loop import run
from longline.cli.flags import ENGINES, takes
from longline.model.errors import BadInput, LonglineError
from longline.services.stored_patterns import find_bad_patterns
from longline.settings import Loaded, Settings, prepare_folder
from longline.settings.folder import SECRET_NAME
from longline.surfaces.server import bind
from longline.wiring import House, check_archive, open_house

Verdict = Literal["ok", "warn", "fail"]

_COLOURS: dict[Verdict, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_PACKAGES = ("asyncpg", "litestar", "msgspec", "obstore", "uvicorn", "uvloop", "wreq")
_OLDEST_SQLITE = (3, 35, 0)
_SCARCE_BYTES, _NO_BYTES = 1024**3, 64 * 1024**2
_DRIFT_MS, _TOO_FAR_MS = 1_000, 10_000
_MAX_PATTERNS = 10
"""Largest number of unusable patterns that are named."""


class CheckRow(NamedTuple):
    """The result of one check; `advice` is the remedy for the operator."""

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


@takes("host", "port", *ENGINES)
def doctor(
    loaded: Loaded,
    deep: Annotated[bool, typer.Option("--deep", help="Read the whole archive and the whole database too.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: have damaged pages fetched again by workers.")
    ] = False,
) -> None:
    """Check versions, the data folder, the engines, the clock and the port, and say what to do."""
    if repair and not deep:
        raise BadInput("--repair needs --deep")
    settings = kept(loaded)
    rows = [*versions(), overview(loaded), folder(settings), secret(settings), port(settings)]
    rows += run(engines(settings, deep=deep))
    whole = all(row.verdict != "fail" for row in rows if row.name in ("database", "engines", "objects"))
    found = read_archive(settings, Console(), repair=repair) if deep and whole else None
    Console().print(_table([*rows, *([found.row] if found else [])]))
    for line in found.lines if found else ():
        Console().print(Text(line), soft_wrap=True, highlight=False)
    if any(row.verdict == "fail" for row in [*rows, *([found.row] if found else [])]):
        raise typer.Exit(1)


def _table(rows: list[CheckRow]) -> Table:
    table = Table("check", "", "found", "what to do", box=None)
    for row in rows:
        # As Text: messages of engines may hold brackets, which rich would read as markup.
        table.add_row(row.name, Text(row.verdict, _COLOURS[row.verdict]), Text(row.found), Text(row.advice))
    return table


def versions() -> list[CheckRow]:
    """Return the versions of Python, the packages and SQLite."""
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    old = sqlite3.sqlite_version_info < _OLDEST_SQLITE
    sqlite = CheckRow(
        "sqlite", "fail" if old else "ok", sqlite3.sqlite_version, "3.35 or newer is needed" if old else ""
    )
    return [CheckRow("python", "ok", platform.python_version()), CheckRow("packages", "ok", found), sqlite]


def overview(loaded: Loaded) -> CheckRow:
    """Return the warnings about settings, or the number of settings given."""
    if loaded.notes:
        return CheckRow("settings", "warn", "; ".join(loaded.notes), "remove what has no effect")
    given = sum(origin != "default" for origin in loaded.origins.values())
    return CheckRow("settings", "ok", f"{given} given, the rest by default")


def folder(settings: Settings) -> CheckRow:
    """Check that the data folder is writable and has free space."""
    try:
        free = shutil.disk_usage(prepare_folder(settings.data)).free
    except LonglineError as error:
        return CheckRow("data folder", "fail", str(error), "give the folder to this user or name another with --data")
    found = f"{settings.data}, {free / 1024**3:.1f} GB free"
    if free < _SCARCE_BYTES:
        return CheckRow("data folder", "fail" if free < _NO_BYTES else "warn", found, "make room on this disk")
    return CheckRow("data folder", "ok", found)


def secret(settings: Settings) -> CheckRow:
    """Check that no other user can read the secret that signs tokens."""
    path = settings.data / SECRET_NAME
    if settings.jwt_secret:
        return CheckRow("secret", "ok", "given in settings")
    if not path.exists():
        return CheckRow("secret", "ok", "none yet; made on first use")
    if path.stat().st_mode & 0o077:
        return CheckRow("secret", "warn", f"{path} can be read by others", f"chmod 600 {path}")
    return CheckRow("secret", "ok", str(path))


def port(settings: Settings) -> CheckRow:
    """Check that the server could listen on its port."""
    where = f"{settings.port} on {settings.host}"
    try:
        bind(settings.host, settings.port).close()
    except LonglineError as error:
        return CheckRow("port", "warn", str(error), "nothing, if that is this platform running")
    return CheckRow("port", "ok", f"{where} is free")


class Checked(NamedTuple):
    """The row for the archive, and a line for each damaged page."""

    row: CheckRow
    lines: list[str]


def read_archive(settings: Settings, console: Console, *, repair: bool) -> Checked:
    """Check every segment and record, with a progress bar."""
    with bar(console, "reading the archive", DownloadColumn()) as progress:
        shown = progress.add_task("", total=None)
        work = check_archive(
            settings, lambda done, total: progress.update(shown, completed=done, total=total), repair=repair
        )
        findings, waiting = run(work)
    told = f"{findings.segments} segments, {findings.records} records"
    if findings.replaced:
        told += f"; {len(findings.replaced)} damaged records were fetched again since"
    lines = [f"damaged: {damage}" for damage in findings.damaged]
    lines += [f"fetched again since: {damage}" for damage in findings.replaced]
    if waiting:
        lines.append(f"{waiting} pages wait to be fetched again by longline up, worker or crawl --again")
    if findings.damaged:
        advice = "" if waiting else "longline crawl --again, or longline doctor --deep --repair"
        return Checked(CheckRow("archive", "fail", f"{told}; {len(findings.damaged)} damaged", advice), lines)
    return Checked(CheckRow("archive", "warn" if findings.replaced else "ok", told), lines)


async def engines(settings: Settings, *, deep: bool = False) -> list[CheckRow]:
    """Check that every engine answers."""
    try:
        async with open_house(settings) as house:
            carrier = "redis" if settings.redis else "signals"
            return [
                await _ask("database", lambda: _database(house, deep=deep), "start it, or correct --database"),
                await _ask("clock", lambda: clock(house), "see the database"),
                await _ask("patterns", lambda: patterns(house), "see the database"),
                await _ask("objects", lambda: _say("objects", house.blobs.check), "correct --objects or its rights"),
                await _ask(carrier, lambda: _say(carrier, house.signals.check), "start it, or correct --redis"),
            ]
    except LonglineError as error:
        return [CheckRow("engines", "fail", str(error), "mend this first; the engines could not be opened")]


async def _ask(name: str, look: Callable[[], Awaitable[CheckRow]], advice: str) -> CheckRow:
    try:
        return await look()
    except LonglineError as error:
        return CheckRow(name, "fail", str(error), advice)


async def _say(name: str, check: Callable[[], Awaitable[str]]) -> CheckRow:
    return CheckRow(name, "ok", await check())


async def _database(house: House, *, deep: bool) -> CheckRow:
    problems = await house.records.schema.problems(deep=deep)
    if problems:
        advice = "restore it from a copy, or move it away and crawl again"
        return CheckRow("database", "fail", f"damaged: {problems[0]} ({len(problems)} faults)", advice)
    found, pending = await house.records.schema.version(), await house.records.schema.pending()
    if pending:
        return CheckRow("database", "warn", f"{found}, {len(pending)} migrations pending", "longline migrate")
    return CheckRow("database", "ok", found)


async def clock(house: House) -> CheckRow:
    """Compare this machine's wall clock with the engine's time, by which leases and pauses are kept."""
    before = house.clock.wall()
    theirs = await house.records.schema.now()
    offset = theirs - (before + house.clock.wall()) // 2
    found = f"{abs(offset)} ms {'ahead of' if offset < 0 else 'behind'} the database"
    far = abs(offset)
    verdict: Verdict = "ok" if far < _DRIFT_MS else "warn" if far < _TOO_FAR_MS else "fail"
    return CheckRow("clock", verdict, found, "" if verdict == "ok" else "set both clocks by NTP")


async def patterns(house: House) -> CheckRow:
    """Check that every stored pattern can be compiled; one that cannot matches nothing."""
    if await house.records.schema.pending():
        return CheckRow("patterns", "ok", "not read before the migrations")
    count, bad = await find_bad_patterns(house.records)
    if bad:
        found = "; ".join(f"{one.owner}: {one.error}" for one in bad[:_MAX_PATTERNS])
        more = f"; and {len(bad) - _MAX_PATTERNS} more" if len(bad) > _MAX_PATTERNS else ""
        return CheckRow("patterns", "warn", found + more, "correct them: until then they match nothing")
    return CheckRow("patterns", "ok", f"{count} stored, all of them usable")
