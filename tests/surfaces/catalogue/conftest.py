"""An admin of the catalogue for each test, on each engine; the servers are started once."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.servers import PostgresServer
from tests.surfaces.catalogue.running import Admin, visiting
from tests.surfaces.products.running import Stage


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server on each engine, for all tests of this folder."""
    folder = tmp_path_factory.mktemp("catalogue")
    if request.param == "sqlite":
        found = Stage(folder)
        yield found
        found.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        found = Stage(folder, url)
        yield found
        found.close()


@pytest.fixture
async def admin(stage: Stage) -> AsyncIterator[Admin]:
    """An admin of an empty catalogue."""
    stage.empty()
    async with visiting(stage) as found:
        yield found
