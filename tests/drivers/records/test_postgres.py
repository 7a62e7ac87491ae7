"""Properties of PostgreSQL alone: the pool, the server's clock, repeated transactions, servers that stop."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, cast

import asyncpg
import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_database, open_records, postgres
from longline.drivers.records.database import Transaction, TryAgain
from longline.drivers.records.postgres import PostgresDatabase, PostgresTransaction
from longline.model.errors import OutOfRange, Unavailable
from longline.model.sources.source import NewSource
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import ANY_SOURCES, source
from tests.servers import PostgresServer

pytestmark = pytest.mark.parametrize("records_url", ["postgres"], indirect=True)


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[PostgresDatabase]:
    opened = await open_database(records_url, clock)
    assert isinstance(opened, PostgresDatabase)
    yield opened
    await opened.close()


async def ask(database: PostgresDatabase, question: str) -> Any:
    async with database._pool.acquire() as connection:
        return await connection.fetchval(question)


async def test_connections_run_the_plans_that_are_tested(database: PostgresDatabase):
    assert await ask(database, "SHOW plan_cache_mode") == "force_generic_plan"
    assert await ask(database, "SHOW jit") == "off"
    assert await ask(database, "SHOW idle_in_transaction_session_timeout") == "1min"
    assert await ask(database, "SHOW transaction_isolation") == "read committed"


class Skewed(SystemClock):
    """A machine with a slightly wrong clock."""

    def wall(self) -> int:
        return super().wall() - 700


async def test_time_is_the_servers_for_a_wrong_clock_of_this_machine(records_url: str):
    database = await open_database(records_url, Skewed())

    async def work(tx: Transaction) -> int:
        return tx.now

    told = await database.transact(work)
    await database.close()
    assert abs(told - time.time_ns() // 1_000_000) < 350


async def test_a_fake_clock_is_not_corrected(database: PostgresDatabase, clock: FakeClock):
    async def work(tx: Transaction) -> int:
        return tx.now

    assert await database.transact(work) == clock.now()
    clock.advance(10)
    assert await database.read(work) == clock.now()


@pytest.mark.parametrize("error", [asyncpg.DeadlockDetectedError, asyncpg.SerializationError, TryAgain])
async def test_a_conflicting_transaction_is_repeated(database: PostgresDatabase, peek: Peek, error: type[Exception]):
    tries: list[int] = []

    async def work(tx: Transaction) -> int:
        tries.append(len(tries))
        await tx.all("add_source", **source(f"try {len(tries)}"))
        if len(tries) < 3:
            raise error("again")
        return len(tries)

    assert await database.transact(work) == 3
    assert await peek.rows("SELECT name FROM sources") == [("try 3",)]


async def test_a_transaction_that_always_fails_is_aborted(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres, "MAX_ATTEMPTS", 3)
    tries = []

    async def work(tx: Transaction) -> None:
        tries.append(tx)
        raise asyncpg.DeadlockDetectedError("again")

    with pytest.raises(Unavailable, match=r"gave up after 3 attempts: DeadlockDetectedError: again"):
        await database.transact(work)
    assert len(tries) == 3


async def test_a_real_deadlock_is_resolved_by_repetition(database: PostgresDatabase, peek: Peek):
    async def both(first: str, second: str) -> None:
        met = False

        async def work(tx: Transaction) -> None:
            nonlocal met
            await tx.all("add_source", **source(first))
            if not met:
                met = True
                await barrier.wait()
            await tx.all("add_source", **source(second))

        await database.transact(work)

    barrier = asyncio.Barrier(2)
    await asyncio.gather(both("a", "b"), both("b", "a"))
    assert sorted(await peek.rows("SELECT name FROM sources")) == [("a",), ("b",)]


async def test_a_terminated_connection_is_one_line_and_the_next_call_works(records_url: str, peek: Peek):
    records = await open_records(records_url, FakeClock())
    await records.sources.find()
    ours = "datname = current_database() AND application_name = 'longline'"
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {ours}"

    async def work(tx: Transaction) -> None:
        await tx.all("find_sources", **ANY_SOURCES, limit=1, offset=0)
        assert await peek.rows(cut)
        await tx.all("find_sources", **ANY_SOURCES, limit=1, offset=0)

    sources: Any = records.sources
    with pytest.raises(Unavailable, match="the database at 127"):
        await sources._database.transact(work)
    assert (await records.sources.add(NewSource("after", ""))).name == "after"
    await records.schema.close()


FATAL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"


def hears_of_its_end(connection: Any) -> None:
    """Deliver the message that ends an idle connection; the end of the connection itself follows later."""
    connection._protocol.data_received(b"E" + (len(FATAL) + 4).to_bytes(4, "big") + FATAL)


@pytest.mark.parametrize("way", ["read", "transact"])
async def test_a_connection_that_ended_while_idle_is_unavailable_and_not_used_again(
    database: PostgresDatabase, way: str
):
    async def work(tx: Transaction) -> int:
        await tx.all("find_sources", **ANY_SOURCES, limit=1, offset=0)
        return 1

    async with database._pool.acquire() as proxy:
        hears_of_its_end(proxy)
    use = getattr(database, way)
    with pytest.raises(Unavailable, match=r"the database at 127.*another operation"):
        await use(work)
    assert await use(work) == 1


@pytest.mark.parametrize("way", ["read", "transact"])
async def test_a_connection_that_ends_inside_a_transaction_is_unavailable(database: PostgresDatabase, way: str):
    async def work(tx: Transaction) -> None:
        hears_of_its_end(tx._connection)  # type: ignore[attr-defined]  # the connection in use
        await tx.all("find_sources", **ANY_SOURCES, limit=1, offset=0)

    with pytest.raises(Unavailable, match="the database at 127"):
        await getattr(database, way)(work)
    assert await ask(database, "SELECT 1") == 1


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
        asyncpg.AdminShutdownError("terminating connection"),
        asyncpg.QueryCanceledError("canceling statement due to user request"),
        asyncpg.TooManyConnectionsError("sorry, too many clients already"),
        asyncpg.DiskFullError("could not extend file"),
        asyncpg.OutOfMemoryError("out of memory"),
        asyncpg.PostgresIOError("could not read block"),
        asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT in a read-only transaction"),
        asyncpg.IdleInTransactionSessionTimeoutError("terminating connection"),
        asyncpg.InvalidPasswordError("password authentication failed"),
        ConnectionResetError("reset by peer"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_failures_of_the_engine_are_not_failures_of_the_caller(database: PostgresDatabase, error: Exception):
    used: list[Any] = []

    async def work(tx: Transaction) -> None:
        used.append(tx._connection._con)  # type: ignore[attr-defined]  # the connection behind the pool's proxy
        raise error

    with pytest.raises(Unavailable, match="the database at 127"):
        await database.transact(work)
    assert used[0].is_closed()


async def test_values_that_no_statement_can_carry_are_failures_of_the_caller(database: PostgresDatabase, peek: Peek):
    async def work(tx: Transaction) -> None:
        await tx.all("add_source", **source("good"))
        await tx.all("find_sources", **ANY_SOURCES, limit=2**80, offset=0)

    with pytest.raises(OutOfRange, match="a number is out of range"):
        await database.transact(work)
    assert await peek.rows("SELECT name FROM sources") == []


async def test_a_connection_is_not_given_back_inside_a_transaction(database: PostgresDatabase, peek: Peek):
    async def work(tx: Transaction) -> None:
        await tx.script("BEGIN")
        await tx.all("add_source", **source("half"))
        raise KeyError("half-way")

    with pytest.raises(KeyError):
        await database.read(work)
    assert await peek.rows("SELECT name FROM sources") == []
    assert await ask(database, "SELECT COUNT(*) FROM sources") == 0


async def test_a_missing_database_is_reported_in_one_line(postgres_server: PostgresServer, records_url: str):
    with pytest.raises(
        Unavailable, match=r'cannot reach the database at .*/no_such: database "no_such" does not exist'
    ):
        await open_records(postgres_server.url("no_such"), FakeClock())


async def test_more_callers_than_connections_wait_their_turn(database: PostgresDatabase, peek: Peek):
    async def work(name: str, tx: Transaction) -> None:
        await tx.all("add_source", **source(name))

    await asyncio.gather(*(database.transact(partial(work, f"s{n}")) for n in range(60)))
    assert await peek.value("SELECT COUNT(*) FROM sources") == 60


async def test_a_violation_that_is_repeated_unchanged_is_raised(database: PostgresDatabase):
    values = iter(("one", "one", "two", "three"))
    attempts: list[str] = []

    async def write(name: str) -> None:
        async def work(tx: PostgresTransaction) -> None:
            attempts.append(name)
            await tx._connection.execute("INSERT INTO counters (name, count) VALUES ($1, 0)", name)

        await database.transact(cast(Any, work))

    await write("taken")
    attempts.clear()
    with pytest.raises(asyncpg.UniqueViolationError):
        await write("taken")
    assert attempts == ["taken", "taken"], "a fault of a statement shows after the second attempt"

    async def racing(tx: PostgresTransaction) -> None:
        name = next(values)
        attempts.append(name)
        await tx._connection.execute("INSERT INTO counters (name, count) VALUES ($1, 0)", name)

    for name in ("one", "two"):
        await write(name)
    attempts.clear()
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.transact(cast(Any, racing))
    values = iter(("one", "two", "three"))
    await database.transact(cast(Any, racing))
    assert attempts == ["one", "one", "one", "two", "three"], "other values are taken by others, one after the other"
