"""A door for each test, on each engine; the servers behind it are started once."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.servers import PostgresServer
from tests.surfaces.products.running import Door, Stage, visiting

LOOPBACK = ("127.0.0.0/8",)


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server on each engine, for all tests of this folder."""
    folder = tmp_path_factory.mktemp("products")
    if request.param == "sqlite":
        found = Stage(folder, egress_allow=LOOPBACK)
        yield found
        found.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        found = Stage(folder, url, egress_allow=LOOPBACK)
        yield found
        found.close()


@pytest.fixture
async def door(stage: Stage) -> AsyncIterator[Door]:
    stage.empty()
    async with visiting(stage) as found:
        yield found
