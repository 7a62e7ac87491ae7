"""Records on each engine, with a clock that is moved by hand."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from longline.drivers.records import open_records
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import TABLES, Peek
from tests.servers import PostgresServer
from tests.servers.postgres import apart

__all__ = ["clock", "peek", "postgres_home", "records", "records_url"]


LEFT_BEHIND = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@pytest.fixture(scope="session")
def postgres_home(postgres_server: PostgresServer) -> Iterator[str]:
    """One migrated PostgreSQL database for all conformance tests: making one for each would take most of their time."""
    with postgres_server.fresh_database() as url:
        apart(partial(_migrate, url))
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def records_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database without a row, once on each engine."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/longline.db"
        apart(partial(_migrate, url))
        return url
    home: str = request.getfixturevalue("postgres_home")
    apart(partial(_wipe, home))
    return home


@pytest.fixture
def clock() -> FakeClock:
    """The time that both engines go by."""
    return FakeClock()


@pytest.fixture
async def records(records_url: str, clock: FakeClock) -> AsyncIterator[Records]:
    """Every noun on one engine."""
    opened = await open_records(records_url, clock)
    yield opened
    await opened.schema.close()


@pytest.fixture
async def peek(records_url: str) -> AsyncIterator[Peek]:
    """The rows behind `records`."""
    looking = Peek(records_url)
    yield looking
    await looking.close()


async def _migrate(url: str) -> None:
    opened = await open_records(url, FakeClock())
    await opened.schema.migrate()
    await opened.schema.close()


async def _wipe(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        # A test that failed may have left a transaction open, which would be waited for.
        await connection.execute(LEFT_BEHIND)
        await connection.execute("; ".join(f"DELETE FROM {table}" for table in TABLES))
    finally:
        await connection.close()
