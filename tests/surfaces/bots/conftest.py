"""A door for each test, on each engine; the servers behind it are started once."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.servers import PostgresServer
from tests.surfaces.bots.running import Door, Stage, visiting


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server on each engine, for all tests of this folder."""
    if request.param == "sqlite":
        folder: Path = tmp_path_factory.mktemp("bots")
        found = Stage(f"sqlite:///{folder}/longline.db")
        yield found
        found.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        found = Stage(url)
        yield found
        found.close()


@pytest.fixture
async def door(stage: Stage) -> AsyncIterator[Door]:
    stage.empty()
    async with visiting(stage) as found:
        yield found
