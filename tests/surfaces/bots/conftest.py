"""A door for each test, on each engine."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.servers import PostgresServer
from tests.servers.postgres import apart
from tests.surfaces.bots.running import Door, migrate, running

TEMPLATE = "longline_test_bots"


@pytest.fixture(scope="package")
def ready_tables(postgres_server: PostgresServer) -> Iterator[str]:
    """A database to be copied: making the tables anew for each test would take most of its time."""
    url = apart(lambda: postgres_server.create_database(TEMPLATE))
    apart(lambda: migrate(url))
    yield TEMPLATE
    apart(lambda: postgres_server.drop_database(url))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database, once on each engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/longline.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    template = request.getfixturevalue("ready_tables")
    url = apart(lambda: server.create_database(template=template))
    yield url
    apart(lambda: server.drop_database(url))


@pytest.fixture
async def door(database_url: str) -> AsyncIterator[Door]:
    async with running(database_url) as found:
        yield found
