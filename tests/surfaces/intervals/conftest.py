"""The interval crawler's door on each engine: as a platform, or with a scheduler and a clock moved by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.ports.records import Records
from longline.settings import Settings
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.surfaces.intervals.platform import Door, open_door
from tests.surfaces.intervals.stage import Stage, opened


@pytest.fixture
async def stage(records: Records, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Stage]:
    """A server and a scheduler that acts only on a test's call."""
    async with opened(records, clock, tmp_path) as stage:
        yield stage


@pytest.fixture
def settings(migrated_url: str, tmp_path: Path) -> Settings:
    """A platform on each engine."""
    return Settings(data=tmp_path / "data", database=migrated_url, port=0)


@pytest.fixture
async def door(settings: Settings) -> AsyncIterator[Door]:
    """A platform with its door open."""
    async with open_door(settings) as door:
        yield door
