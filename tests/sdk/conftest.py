"""A server with the API for bots."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.surfaces.bots.running import Door, running


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Door]:
    async with running(f"sqlite:///{tmp_path}/longline.db") as found:
        yield found


@pytest.fixture
def where(server: Door) -> str:
    return str(server.stage.address)
