"""A sink may not miss items: the one interleaving in which it would, if sinks were not locked.

A delivery reaches the end of a run and reads the last position of the run; a report adds items and commits; the
assignment of the run to the sink commits; the delivery notes that no item waits. The interleaving is rare, so that the
delivery is held inside its statement.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from longline.drivers.records import open_database
from longline.drivers.records.postgres import PostgresDatabase
from longline.drivers.records.sinks.sink_runs import SinkRunRecords
from longline.drivers.records.sinks.sinks import SinkRecords
from longline.model.sinks.sink import SinkAddress, SinkBacklog
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.gates import PATIENCE, locked, settled, together
from tests.drivers.records.peek import Peek
from tests.drivers.records.sinks.items import OpenRun

pytestmark = pytest.mark.parametrize("records_url", ["postgres"], indirect=True)

HOLD = 7708


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[PostgresDatabase]:
    opened = await open_database(records_url, clock)
    assert isinstance(opened, PostgresDatabase)
    yield opened
    await opened.close()


def patch(database: PostgresDatabase, name: str, old: str, new: str) -> None:
    """Change the text of one query."""
    query = database._queries[name]
    assert old in query.sql
    database._queries[name] = replace(query, sql=query.sql.replace(old, new))


async def missed(records: Records, database: PostgresDatabase, peek: Peek) -> bool:
    """Return True if the sink misses items that are added while it reaches the end of a run."""
    run = await OpenRun.begin(records, 2)
    await run.find(2)
    sink = await records.sinks.register(SinkAddress.parse("x://a"))
    await records.sink_runs.assign_new()
    lease = await records.sinks.claim(sink.id, 1, 60_000)
    assert lease is not None
    patch(database, "advance_position", "WHERE sink_id", f"FROM (SELECT pg_advisory_xact_lock({HOLD})) h WHERE sink_id")
    async with together() as started, locked(peek.url, f"SELECT pg_advisory_xact_lock({HOLD})") as let_go:
        delivery = started(SinkRecords(database).advance(lease, run.id, 2, 2))
        await asyncio.wait_for(settled(delivery, peek), PATIENCE)
        assert not delivery.done()
        # A report does not wait for a delivery.
        await asyncio.wait_for(run.find(3), PATIENCE)
        assignment = started(SinkRunRecords(database).assign_new())
        await asyncio.wait_for(settled(assignment, peek, others=1), PATIENCE)
        await let_go()
        await delivery
        assert await assignment == 1
    return await records.sinks.backlog(sink.id) != [SinkBacklog(run.id, 2, 5)]


async def test_a_delivery_and_a_concurrent_assignment_miss_no_items(
    records: Records, database: PostgresDatabase, peek: Peek
):
    assert not await missed(records, database, peek)


async def test_without_the_lock_items_are_missed(records: Records, database: PostgresDatabase, peek: Peek):
    patch(database, "lock_sinks", "FOR NO KEY UPDATE", "")
    assert await missed(records, database, peek)
