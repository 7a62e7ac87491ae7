"""SQLite in WAL mode: one writer thread, one reader thread, every transaction one hop."""

import asyncio
import logging
import os
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.engine_clock import SqliteTime
from longline.drivers.records.named_queries import NamedQuery, loaded, spread
from longline.model.errors import CorruptDatabase, DiskFull, OutOfRange, Unavailable
from longline.ports.clock import Clock

T = TypeVar("T")
Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]

MIN_VERSION = (3, 35, 0)
"""Oldest version of SQLite with RETURNING."""

LOCK_TIMEOUT_SECONDS = 30.0
"""Seconds to wait while another process has locked the file."""

WRITE = "BEGIN IMMEDIATE"

MIN_FREE_BYTES = 64 * 1024
"""Free bytes below which an I/O error means a full disk."""

COMMITS_PER_CHECKPOINT = 3
CHECKPOINT_AT_LEAST = 64
log = logging.getLogger(__name__)


class SqliteTransaction:
    """Statements on one connection. No statement suspends, so the thread can run the coroutine itself."""

    engine: Any = "lite"

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, NamedQuery], now: int) -> None:
        self._execute = connection.execute
        self._queries = queries
        self.now = now

    async def all(self, name: str, /, **params: Any) -> Sequence[Row]:
        query = self._queries[name]
        return self._run(query.sql, self._values(query, params)).fetchall()

    async def one(self, name: str, /, **params: Any) -> Row | None:
        rows = await self.all(name, **params)
        return rows[0] if rows else None

    async def batch(self, name: str, rows: Sequence[tuple[Any, ...]], /, **params: Any) -> Sequence[Row]:
        query = self._queries[name]
        values = self._values(query, params)
        found: list[Row] = []
        for start in range(0, len(rows), query.max_rows):
            part = rows[start : start + query.max_rows]
            if len(part) == 1:
                found.extend(self._run(query.sql, (*values, *part[0])))
            else:
                found.extend(self._run(spread(query, len(part)), (*chain.from_iterable(part), *values)))
        return found

    async def script(self, text: str) -> None:
        # executescript() would commit the transaction we are in, so statements go one by one.
        for statement in statements(text):
            self._run(statement)

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._execute(sql, values)
        except OverflowError as error:  # a number of more than 64 bits
            raise OutOfRange from error

    def _values(self, query: NamedQuery, params: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.now if name == "now" and "now" not in params else params[name] for name in query.params)


def statements(text: str) -> list[str]:
    """Split a script into its statements."""
    found, part = [], ""
    for line in text.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    # The remainder has no semicolon; better an error of the engine than a statement that is never run.
    return [*found, part] if part.strip() else found


class _Thread:
    """One thread with one connection; jobs run in the order they came."""

    def __init__(self, name: str, connect: Callable[[], sqlite3.Connection]) -> None:
        self.connection = connect()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        return self._jobs.empty()

    async def run(self, job: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._jobs.put((job, done, loop))
        return await done

    async def close(self) -> None:
        self._jobs.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
        self.connection.close()

    def _loop(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, done, loop = item
            try:
                result, error = job(), None
            except BaseException as raised:
                result, error = None, raised
            # The loop may be gone when a process is torn down in mid-transaction; the commit stands all the same.
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, done, result, error)


def _settle(done: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


class SqliteDatabase:
    """The embedded engine: one file, shared safely by the processes of one machine.

    A database that is opened for reading creates no file, and refuses every write.
    """

    engine: Any = "lite"

    def __init__(self, path: Path, clock: Clock, *, read_only: bool = False) -> None:
        if sqlite3.sqlite_version_info < MIN_VERSION:
            raise Unavailable(f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed")
        self._path, self._read_only = path, read_only
        self._queries = loaded("lite")
        self._time = SqliteTime(clock, self._queries)
        self._commits = 0
        try:
            self._writer = _Thread("sqlite-writer", self._connect)
            self._reader = _Thread("sqlite-reader", self._connect)
        except sqlite3.Error as error:
            raise explained(error, path) from error

    def _connect(self) -> sqlite3.Connection:
        place = _read_only_uri(self._path) if self._read_only else str(self._path)
        connection = sqlite3.connect(
            place,
            isolation_level=None,
            check_same_thread=False,
            timeout=LOCK_TIMEOUT_SECONDS,
            uri=self._read_only,
        )
        connection.row_factory = sqlite3.Row
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        if not self._read_only:
            _use_wal(connection)
        # SQLite's own `lower` converts ASCII letters only.
        connection.create_function("lower", 1, _lower, deterministic=True)
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            # Memory must not grow with the file: a larger cache fills up and gains next to nothing.
            "cache_size = -16384",
            "temp_store = MEMORY",
            "wal_autocheckpoint = 0",
        ):
            connection.execute(f"PRAGMA {pragma}")

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._writer.run(lambda: self._write(work))

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._reader.run(lambda: self._drive(self._reader.connection, "BEGIN", work))

    def connections(self) -> dict[str, int]:
        busy = sum(not thread.idle for thread in (self._writer, self._reader))
        return {"busy": busy, "idle": 2 - busy}

    async def version(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    async def close(self) -> None:
        await self._reader.close()
        if not self._read_only:
            await self._writer.run(lambda: self._move_log("TRUNCATE"))
        await self._writer.close()

    def _write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        result = self._drive(self._writer.connection, WRITE, work)
        self._checkpoint()
        return result

    def _drive(self, connection: sqlite3.Connection, begin: str, work: Callable[[Transaction], Awaitable[T]]) -> T:
        try:
            if begin == WRITE and not self._read_only:
                self._time.check(connection)
            connection.execute(begin)
            try:
                result = _drive(work(SqliteTransaction(connection, self._queries, self._time.read(connection))))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return result
        except sqlite3.DatabaseError as error:
            # All subclasses but OperationalError are faults of a statement, not of the file.
            if isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
                raise explained(error, self._path) from error
            raise

    def _checkpoint(self) -> None:
        """Checkpoint the WAL after a write, if possible while no transaction waits.

        The automatic checkpoint of SQLite runs inside the commit that crosses the threshold, often a claim.
        """
        self._commits += 1
        due = self._commits % COMMITS_PER_CHECKPOINT == 0 and self._writer.idle
        if due or self._commits >= CHECKPOINT_AT_LEAST:
            self._commits = 0
            self._move_log("PASSIVE")

    def _move_log(self, mode: str) -> None:
        try:
            self._writer.connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
        except sqlite3.Error as error:
            # The commit stands, and must not be reported as a failure; a later checkpoint moves the log.
            log.warning("WAL checkpoint failed", extra={"error": str(error)})


def explained(error: sqlite3.Error, path: Path) -> Unavailable:
    """Return the failure of a database file as one line with a remedy."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _has_no_room(path)):
        return DiskFull(f"the disk is full: the database {path} cannot be written; make room, nothing stored is lost")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CorruptDatabase(
            f"the database {path} is damaged: {error}; restore it from a copy, or move it away and crawl again"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return Unavailable(
            f"the database {path} cannot be opened for writing: {error}; give the file and its folder to this user"
        )
    return Unavailable(f"the database {path} cannot be used: {error}")


def _read_only_uri(path: Path) -> str:
    """Return the URI that opens a file for reading.

    SQLite locks a file in WAL mode by a file beside it. In a folder without write permission there can be none, and
    no other process of this user writes: the file is opened as one that does not change. A WAL needs the lock.
    """
    if os.access(path.parent, os.W_OK):
        return f"{path.absolute().as_uri()}?mode=ro"
    wal, lock = (path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm"))
    if not wal.exists() or not wal.stat().st_size:
        return f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    if not lock.exists():
        raise Unavailable(
            f"the database {path} has changes that are not in the file yet; open it once with write permission"
        )
    return f"{path.absolute().as_uri()}?mode=ro"


def _has_no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < MIN_FREE_BYTES
    except OSError:
        return False


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL, once in its life. SQLite does not wait here for another process that switches."""
    patience = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
        time.sleep(0.01)


def _drive(work: Awaitable[T]) -> T:
    """Run a coroutine that never suspends to its end."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the result of `work`
    raise RuntimeError("a transaction may only await its own statements")
