"""Records on each engine, with a clock that tests advance."""

from collections.abc import AsyncIterator

import pytest

from longline.drivers.records import open_records
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek

__all__ = ["clock", "peek", "records", "records_url"]


@pytest.fixture(params=["sqlite", "postgres"])
def records_url(request: pytest.FixtureRequest) -> str:
    """The migrated database behind `records`, once on each engine."""
    url: str = request.getfixturevalue("migrated_file" if request.param == "sqlite" else "wiped_home")
    return url


@pytest.fixture
def clock() -> FakeClock:
    """The clock of both engines."""
    return FakeClock()


@pytest.fixture
async def records(records_url: str, clock: FakeClock) -> AsyncIterator[Records]:
    """The records of one engine."""
    opened = await open_records(records_url, clock)
    yield opened
    await opened.schema.close()


@pytest.fixture
async def peek(records_url: str) -> AsyncIterator[Peek]:
    """The rows behind `records`."""
    looking = Peek(records_url)
    yield looking
    await looking.close()
