"""Numbers of more than 64 bits are bad input on both engines, and leave the connection usable."""

import math

import pytest

from longline.drivers.records import open_database
from longline.drivers.records.database import Transaction
from longline.model.errors import OutOfRange
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names

LARGE = 1 << 63


async def test_a_number_that_no_database_stores_is_bad_input(records: Records):
    assert await records.sources.get(LARGE - 1) is None
    for number in (LARGE, -LARGE - 1, 10**30):
        with pytest.raises(OutOfRange, match="a number is out of range"):
            await records.sources.get(number)
        with pytest.raises(OutOfRange, match="a number is out of range"):
            await records.run_views.among([1, number])
    assert await records.run_views.among([1, LARGE - 1]) == []


async def test_an_overflow_of_our_own_code_is_no_bad_input(records_url: str, clock: FakeClock):
    database = await open_database(records_url, clock)

    async def work(_: Transaction) -> int:
        return int(math.inf)

    try:
        for run in (database.read, database.transact):
            with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
                await run(work)
    finally:
        await database.close()
