from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.settings import Settings
from tests.surfaces.intervals.house import Door, open_door


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """A house on each engine."""
    return Settings(data=tmp_path / "data", database=database_url, port=0)


@pytest.fixture
async def door(settings: Settings) -> AsyncIterator[Door]:
    async with open_door(settings) as door:
        yield door
