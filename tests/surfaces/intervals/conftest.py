"""The interval crawler's door on each engine, with a planner and a clock that are moved by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.surfaces.intervals.stage import Stage, opened


@pytest.fixture
async def stage(records: Records, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Stage]:
    """A server and a planner that does something only when a test says so."""
    async with opened(records, clock, tmp_path) as stage:
        yield stage
