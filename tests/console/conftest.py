"""A platform with its console, on each engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from longline.settings import Settings
from tests.console.visiting import log_in
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.surfaces.intervals.platform import Door, open_door


@pytest.fixture
def settings(migrated_url: str, tmp_path: Path) -> Settings:
    """A platform on each engine."""
    return Settings(data=tmp_path / "data", database=migrated_url, port=0)


@pytest.fixture
async def door(settings: Settings) -> AsyncIterator[Door]:
    """A platform with its doors open."""
    async with open_door(settings) as door:
        yield door


@pytest.fixture
async def visitor(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    """An administrator who has logged in."""
    async with log_in(door) as client:
        yield client
