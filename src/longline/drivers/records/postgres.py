"""PostgreSQL over asyncpg: a pool of connections, prepared statements, time by the server's clock."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import asyncpg

from longline.drivers.records.database import Row, Transaction, TryAgain
from longline.drivers.records.engine_clock import PostgresTime
from longline.drivers.records.named_queries import NamedQuery, loaded
from longline.model.errors import OutOfRange, Unavailable
from longline.ports.clock import Clock

T = TypeVar("T")
log = logging.getLogger(__name__)

MAX_ATTEMPTS = 6
# A transaction looks before it writes a unique value or a reference; its second attempt finds the value that was taken,
# or misses the row that was deleted meanwhile.
# The same violation twice is no race, and is raised.
RETRYABLE_ERRORS = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.UniqueViolationError,
    asyncpg.ForeignKeyViolationError,
    TryAgain,
)
_VIOLATIONS = (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError)
ENGINE_FAILURES = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    # A connection whose end the server has announced is not closed yet, and refuses statements with this error.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    # After a failover the server may be a standby.
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)
"""Failures of connection and server; every other error is a failure of the statement or of its values."""

SETTINGS = {
    "application_name": "longline",
    # Plans are tested as generic plans, so they are run as generic plans.
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    # A fresh database has no statistics: plans made then, and kept, would walk whole tables while these grow.
    "enable_seqscan": "off",
    # Bitmaps of common words must fit in here: a lossy bitmap keeps pages, and every row of them is compared again.
    "work_mem": "32MB",
    # A forgotten transaction would keep dead rows at the head of the claim's index.
    "idle_in_transaction_session_timeout": "60000",
}


class PostgresTransaction:
    """Statements on one connection."""

    engine: Any = "pg"

    def __init__(self, connection: Any, queries: dict[str, NamedQuery], now: int) -> None:
        self._connection = connection
        self._queries = queries
        self.now = now

    async def all(self, name: str, /, **params: Any) -> Sequence[Row]:
        query = self._queries[name]
        return await self._fetch(query.sql, *self._values(query, params))

    async def one(self, name: str, /, **params: Any) -> Row | None:
        rows = await self.all(name, **params)
        return rows[0] if rows else None

    async def batch(self, name: str, rows: Sequence[tuple[Any, ...]], /, **params: Any) -> Sequence[Row]:
        if not rows:
            return []
        query = self._queries[name]
        first, *others = zip(*rows, strict=True)
        # An empty array stands for a column of NULLs, since unnest() pads shorter arrays: the library checks the type
        # of every element in Python.
        columns = [first, *(() if _is_null(column) else column for column in others)]
        return await self._fetch(query.sql, *self._values(query, params), *columns)

    async def _fetch(self, sql: str, *values: Any) -> list[Row]:
        try:
            rows: list[Row] = await self._connection.fetch(sql, *values)
        except asyncpg.DataError as error:
            # The library could not encode a value. An error of the server has no cause.
            if isinstance(error.__cause__, OverflowError):
                raise OutOfRange from error
            raise
        return rows

    async def script(self, text: str) -> None:
        await self._connection.execute(text)

    def _values(self, query: NamedQuery, params: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.now if name == "now" and "now" not in params else params[name] for name in query.params)


def _is_null(column: tuple[Any, ...]) -> bool:
    return column[0] is None and column.count(None) == len(column)


class PostgresDatabase:
    """The large engine. Times in statements follow the server's clock, not the wall clock of this machine."""

    engine: Any = "pg"

    def __init__(self, pool: Any, where: str, clock: Clock) -> None:
        self._pool, self._where = pool, where
        self._queries = loaded("pg")
        self._time = PostgresTime(clock, self._queries)

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        last: Exception = TryAgain()
        for attempt in range(MAX_ATTEMPTS):
            try:
                async with self._connection() as connection, connection.transaction():
                    return await work(PostgresTransaction(connection, self._queries, self._time.now()))
            except RETRYABLE_ERRORS as error:
                if _is_same_violation(last, error):
                    raise  # no race, but a fault of the transaction
                last = error
                log.info("transaction retried", extra={"why": type(error).__name__})
                await asyncio.sleep(random.uniform(0, 0.02 * 2**attempt))
        why = f"{type(last).__name__}: {_line(last)}"
        raise Unavailable(f"a transaction at {self._where} gave up after {MAX_ATTEMPTS} attempts: {why}") from last

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async with self._connection() as connection:
            return await work(PostgresTransaction(connection, self._queries, self._time.now()))

    async def learn_time(self) -> None:
        """Measure the server's clock before the first comparison of times."""
        async with self._connection():
            pass

    def connections(self) -> dict[str, int]:
        idle: int = self._pool.get_idle_size()
        return {"busy": self._pool.get_size() - idle, "idle": idle}

    async def version(self) -> str:
        async with self._connection() as connection:
            return f"PostgreSQL {str(await connection.fetchval('SHOW server_version')).split()[0]}"

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self._pool.close(), 5)
        except TimeoutError:
            self._pool.terminate()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        try:
            async with self._pool.acquire(timeout=30) as connection:
                with _terminated_after_failure(connection):
                    await self._time.check(connection)
                    yield connection
        except ENGINE_FAILURES as error:
            self._time.invalidate()
            raise Unavailable(f"the database at {self._where} cannot be used: {_line(error)}") from error


@contextmanager
def _terminated_after_failure(connection: Any) -> Iterator[None]:
    """Terminate a connection that failed in the middle of its work, so that the pool makes a new one."""
    try:
        yield
    except ENGINE_FAILURES:
        connection.terminate()
        raise


async def connect(url: str, clock: Clock) -> PostgresDatabase:
    """Open a pool on a database URL, or raise `Unavailable` with the reason in one line."""
    parts = urlsplit(url)
    where = f"{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
    try:
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=10,
            timeout=10,
            statement_cache_size=500,
            server_settings=SETTINGS,
            init=_take_vectors,
            reset=_as_it_is,
        )
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise Unavailable(f"cannot reach the database at {where}: {_line(error)}") from error
    database = PostgresDatabase(pool, where, clock)
    try:
        await database.learn_time()
    except BaseException:
        pool.terminate()
        raise
    return database


async def _take_vectors(connection: Any) -> None:
    """Let statements take texts of the index in the binary form of their vectors."""
    await connection.set_type_codec("tsvector", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")


async def _as_it_is(_: Any) -> None:
    """Give a connection back without a reset: no state outlives its transaction, and a reset costs a round trip."""


def _line(error: BaseException) -> str:
    # The text of the system, without its number.
    os_text = error.strerror if isinstance(error, OSError) else None
    return (os_text or str(error) or type(error).__name__).splitlines()[0]


def _is_same_violation(last: Exception, error: Exception) -> bool:
    """Return whether two attempts violated the same constraint with the same value."""
    return (
        isinstance(last, _VIOLATIONS)
        and isinstance(error, _VIOLATIONS)
        and (last.constraint_name, last.detail) == (error.constraint_name, error.detail)
    )
