"""`longline doctor`: checks of everything that the platform depends on, with advice."""

import importlib.metadata
import os
import platform
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
import typer
from rich.console import Console
from rich.progress import DownloadColumn
from rich.text import Text

from longline.cli.commands.export import progress_bar
from longline.cli.data_folder import REPAIR_COMMANDS, archive_settings
from longline.cli.event_loop import run
from longline.cli.flags import ENGINES, takes
from longline.cli.listing import Listing, OutputConsole
from longline.cli.log_setup import SERVICE
from longline.model.errors import BadInput, LonglineError
from longline.model.sinks.sink import UNSEEN_MS
from longline.services.invalid_patterns import find_bad_patterns
from longline.settings import Loaded, Settings, prepare_folder
from longline.settings.secret_files import SECRET_NAME
from longline.surfaces.server.listening_socket import bind
from longline.wiring import Platform, check_archive, open_platform
from longline.wiring.platform import load_parsers
from longline.wiring.subjects.sinks import sink_names, sink_progress

Verdict = Literal["ok", "warn", "fail"]

_COLOURS: dict[Verdict, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_PACKAGES = ("asyncpg", "litestar", "msgspec", "obstore", "uvicorn", "uvloop", "wreq")
_MIN_SQLITE = (3, 35, 0)
_WARN_FREE_BYTES, _MIN_FREE_BYTES = 1024**3, 64 * 1024**2
_WARN_DRIFT_MS, _MAX_DRIFT_MS = 1_000, 10_000
_ANSWER_SECONDS, _MAX_ANSWER_BYTES = 3.0, 1_000_000
_MAX_PATTERNS = 10
"""Largest number of unusable patterns that are named."""


class CheckRow(NamedTuple):
    """The result of one check; `advice` is the remedy for the operator."""

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


@takes("host", "port", *ENGINES, "parsers")
def doctor(
    loaded: Loaded,
    deep: Annotated[
        bool, typer.Option("--deep", help="Check every record of the archive and the whole database as well.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: let workers fetch damaged pages again.")
    ] = False,
) -> None:
    """Check versions, data folder, engines, clock and port, and print advice."""
    if repair and not deep:
        raise BadInput("--repair needs --deep")
    settings = archive_settings(loaded)
    rows = [*versions(), overview(loaded), folder(settings), secret(settings), port(settings), parsers(settings)]
    if rows[-1].verdict == "fail":  # the engines are checked all the same
        settings = msgspec.structs.replace(settings, parsers=())
    rows += run(engines(settings, deep=deep))
    whole = all(row.verdict != "fail" for row in rows if row.name in ("database", "engines", "objects"))
    found = read_archive(settings, OutputConsole(), repair=repair) if deep and whole else None
    _print_checks([*rows, *([found.row] if found else [])])
    for line in found.lines if found else ():
        OutputConsole().print(Text(line), soft_wrap=True, highlight=False)
    if any(row.verdict == "fail" for row in [*rows, *([found.row] if found else [])]):
        raise typer.Exit(1)


def _print_checks(rows: list[CheckRow]) -> None:
    listing = Listing("check", "", "found", "advice")
    for row in rows:
        listing.add(row.name, Text(row.verdict, _COLOURS[row.verdict]), row.found, row.advice)
    listing.print()


def versions() -> list[CheckRow]:
    """Return the versions of Python, the packages and SQLite."""
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    old = sqlite3.sqlite_version_info < _MIN_SQLITE
    sqlite = CheckRow(
        "sqlite", "fail" if old else "ok", sqlite3.sqlite_version, "3.35 or newer is needed" if old else ""
    )
    return [CheckRow("python", "ok", platform.python_version()), CheckRow("packages", "ok", found), sqlite]


def overview(loaded: Loaded) -> CheckRow:
    """Return the warnings about settings, or the number of settings given."""
    if loaded.notes:
        return CheckRow("settings", "warn", "; ".join(loaded.notes), "remove settings without effect")
    given = sum(origin != "default" for origin in loaded.origins.values())
    return CheckRow("settings", "ok", f"{given} set, the others have their defaults")


def folder(settings: Settings) -> CheckRow:
    """Check that the data folder is writable and has free space."""
    if not settings.data.exists() and _may_create(settings.data):
        return CheckRow("data folder", "ok", f"{settings.data} does not exist yet; created on first use")
    try:
        free = shutil.disk_usage(prepare_folder(settings.data)).free
    except LonglineError as error:
        return CheckRow("data folder", "fail", str(error), "make the folder writable or choose another with --data")
    found = f"{settings.data}, {free / 1024**3:.1f} GB free"
    if free < _WARN_FREE_BYTES:
        return CheckRow("data folder", "fail" if free < _MIN_FREE_BYTES else "warn", found, "free space on this disk")
    return CheckRow("data folder", "ok", found)


def _may_create(folder: Path) -> bool:
    """Return whether this user may create a folder."""
    above = next(parent for parent in folder.parents if parent.exists())
    return above.is_dir() and os.access(above, os.W_OK)


def secret(settings: Settings) -> CheckRow:
    """Check that no other user can read the secret that signs tokens."""
    path = settings.data / SECRET_NAME
    if settings.jwt_secret:
        return CheckRow("secret", "ok", "from the settings")
    if not path.exists():
        return CheckRow("secret", "ok", "none yet; generated on first use")
    if path.stat().st_mode & 0o077:
        return CheckRow("secret", "warn", f"{path} is readable by other users", f"chmod 600 {path}")
    return CheckRow("secret", "ok", str(path))


def port(settings: Settings) -> CheckRow:
    """Check that the server could listen on its port."""
    where = f"{settings.port} on {settings.host}"
    try:
        bind(settings.host, settings.port).close()
    except LonglineError as error:
        if _longline_answers(settings):
            return CheckRow("port", "ok", f"longline runs on {where}")
        return CheckRow("port", "warn", str(error), "stop the other program, or choose another port with --port")
    return CheckRow("port", "ok", f"{where} is free")


def _longline_answers(settings: Settings) -> bool:
    """Return whether a server of this program answers on the port."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    connection = HTTPConnection(host, settings.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/health")
        answer = msgspec.json.decode(connection.getresponse().read(_MAX_ANSWER_BYTES))
    except (OSError, HTTPException, msgspec.DecodeError):
        return False
    finally:
        connection.close()
    return isinstance(answer, dict) and answer.get("service") == SERVICE


def parsers(settings: Settings) -> CheckRow:
    """Check that every file of custom parsers can be loaded, and name the parsers."""
    try:
        loaded = load_parsers(settings)
    except LonglineError as error:
        return CheckRow("parsers", "fail", str(error), "mend the file, or take it out of the setting parsers")
    own = ", ".join(f"{parser.name} ({parser.place})" for parser in loaded.custom)
    built_in = [parser.name for parser in loaded.parsers if parser not in loaded.custom]
    return CheckRow("parsers", "ok", f"{own or 'no custom parsers'}; built in: {', '.join(built_in)}")


class ArchiveRow(NamedTuple):
    """The row for the archive, and a line for each damaged page."""

    row: CheckRow
    lines: list[str]


def read_archive(settings: Settings, console: Console, *, repair: bool) -> ArchiveRow:
    """Check every segment and record, with a progress bar."""
    with progress_bar(console, "reading the archive", DownloadColumn()) as progress:
        shown = progress.add_task("", total=None)
        work = check_archive(
            settings, lambda done, total: progress.update(shown, completed=done, total=total), repair=repair
        )
        findings, waiting = run(work)
    counts = f"{findings.segments} segments, {findings.records} records"
    if findings.replaced:
        counts += f"; {len(findings.replaced)} damaged records have been fetched again"
    lines = [f"damaged: {damage}" for damage in findings.damaged]
    lines += [f"fetched again: {damage}" for damage in findings.replaced]
    if waiting:
        lines.append(f"{waiting} pages are queued; longline up, worker or crawl --again fetches them")
    if findings.damaged:
        advice = "" if waiting else REPAIR_COMMANDS
        return ArchiveRow(CheckRow("archive", "fail", f"{counts}; {len(findings.damaged)} damaged", advice), lines)
    return ArchiveRow(CheckRow("archive", "warn" if findings.replaced else "ok", counts), lines)


async def engines(settings: Settings, *, deep: bool = False) -> list[CheckRow]:
    """Check that every engine answers; nothing is created for the check of a folder that does not exist."""
    embedded = settings.database.startswith("sqlite") and settings.objects.startswith(settings.data.as_uri())
    if embedded and not settings.data.exists() and _may_create(settings.data):
        return [CheckRow("engines", "ok", "none yet; created on first use")]
    try:
        async with open_platform(settings, reading=True) as platform:
            return await _engines(platform, deep=deep)
    except LonglineError as error:
        return [CheckRow("engines", "fail", str(error), "fix this first; the engines could not be opened")]


async def _engines(platform: Platform, *, deep: bool) -> list[CheckRow]:
    carrier = "redis" if platform.settings.redis else "signals"
    database = await _check(
        "database", lambda: _database(platform, deep=deep), "start the database, or check --database"
    )
    found = [database]
    if database.verdict != "fail":  # rows of a damaged database may hold anything
        found += [
            await _check("clock", lambda: clock(platform), "see the database"),
            await _check("due times", lambda: due_times(platform), "see the database"),
            await _check("patterns", lambda: patterns(platform), "see the database"),
            await _check("sinks", lambda: sinks(platform), "see the database"),
        ]
    objects = _check("objects", lambda: _answer("objects", platform.blobs.check), "check --objects and its permissions")
    signals = _check(carrier, lambda: _answer(carrier, platform.signals.check), "start the server, or check --redis")
    return [*found, await objects, await signals]


async def _check(name: str, check: Callable[[], Awaitable[CheckRow]], advice: str) -> CheckRow:
    try:
        return await check()
    except LonglineError as error:
        return CheckRow(name, "fail", str(error), advice)


async def _answer(name: str, check: Callable[[], Awaitable[str]]) -> CheckRow:
    return CheckRow(name, "ok", await check())


async def _database(platform: Platform, *, deep: bool) -> CheckRow:
    problems = await platform.records.schema.problems(deep=deep)
    if problems:
        advice = "restore the database from a backup, or move it away and crawl again"
        return CheckRow("database", "fail", f"damaged: {problems[0]} ({len(problems)} faults found)", advice)
    found, pending = await platform.records.schema.version(), await platform.records.schema.pending()
    if pending:
        return CheckRow("database", "warn", f"{found}, {len(pending)} migrations pending", "longline migrate")
    return CheckRow("database", "ok", found)


async def clock(platform: Platform) -> CheckRow:
    """Compare this machine's wall clock with the engine's time, by which leases and pauses are kept."""
    before = platform.clock.wall()
    theirs = await platform.records.schema.now()
    offset = theirs - (before + platform.clock.wall()) // 2
    found = f"{abs(offset)} ms {'ahead of' if offset < 0 else 'behind'} the database"
    far = abs(offset)
    verdict: Verdict = "ok" if far < _WARN_DRIFT_MS else "warn" if far < _MAX_DRIFT_MS else "fail"
    return CheckRow("clock", verdict, found, "" if verdict == "ok" else "synchronise both clocks by NTP")


async def due_times(platform: Platform) -> CheckRow:
    """Check that no work is due later than any rule puts it; a clock that was far ahead leaves such times behind."""
    if await platform.records.schema.pending():
        return CheckRow("due times", "ok", "not checked before the migrations are applied")
    found = await platform.records.schema.distant_times()
    if not found:
        return CheckRow("due times", "ok", "none is later than its rule allows")
    counts = ", ".join(f"{count} {name}" for name, count in found.items())
    advice = "check the clock; then pause and resume these schedules. Pauses of hosts are shortened every hour"
    return CheckRow("due times", "warn", f"later than any rule sets: {counts}", advice)


async def patterns(platform: Platform) -> CheckRow:
    """Check that every stored pattern can be compiled; one that cannot matches nothing."""
    if await platform.records.schema.pending():
        return CheckRow("patterns", "ok", "not checked before the migrations are applied")
    count, bad = await find_bad_patterns(platform.records)
    if bad:
        found = "; ".join(f"{one.owner}: {one.error}" for one in bad[:_MAX_PATTERNS])
        more = f"; and {len(bad) - _MAX_PATTERNS} more" if len(bad) > _MAX_PATTERNS else ""
        return CheckRow("patterns", "warn", found + more, "correct the patterns; until then they match nothing")
    return CheckRow("patterns", "ok", f"{count} stored, all valid")


async def sinks(platform: Platform) -> CheckRow:
    """Check that no sink has been failing, refuses items, or waits for a process that delivers to it."""
    if await platform.records.schema.pending():
        return CheckRow("sinks", "ok", "not checked before the migrations are applied")
    found = await sink_progress(platform).lags()
    if missing := await platform.records.sink_runs.names() - sink_names(platform.settings):
        advice = "give the setting sinks addresses of these names, or change the sources: longline sources sinks"
        return CheckRow("sinks", "warn", f"sources name unknown sinks: {', '.join(sorted(missing))}", advice)
    failing = [lag for lag in found if lag.failing]
    idle = [lag for lag in found if lag.waiting and not lag.failing and lag.unseen_ms > UNSEEN_MS]
    if failing:
        texts = (f"{lag.title} ({lag.label}): {lag.error or 'refuses items'}" for lag in failing)
        advice = (
            "mend the receiver; longline sinks show lists the waiting items, longline sinks skip leaves an item out"
        )
        return CheckRow("sinks", "warn", f"failing: {'; '.join(texts)}", advice)
    if idle:
        texts = (f"{lag.title} ({lag.label}), {lag.waiting} items" for lag in idle)
        advice = "start the platform or the crawl with the sink in its settings, or run longline sinks remove"
        return CheckRow("sinks", "warn", f"no process delivers to: {'; '.join(texts)}", advice)
    return CheckRow("sinks", "ok", f"{len(found)}, none fails" if found else "none")
