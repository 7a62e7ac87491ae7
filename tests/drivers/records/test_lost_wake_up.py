"""A host may not sleep on work: the one interleaving in which it would, if lines were not locked.

The releaser's last statement reads the queue and finds no task; an admitter adds work for the host, which is still
held, and commits; the releaser commits. The interleaving is rare, so that the releaser is held inside that statement.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from longline.drivers.records import open_database
from longline.drivers.records.frontier.claims import FrontierRecords
from longline.drivers.records.postgres import PostgresDatabase
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.gates import PATIENCE, Gate, GatedDatabase, interleave, locked, settled, together
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim, claim_one, host_report, report, running_run, url

pytestmark = pytest.mark.parametrize("records_url", ["postgres"], indirect=True)

HOLD = 7707


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


def hold_the_release(database: PostgresDatabase) -> None:
    """Let the releasing statement wait, after its snapshot, for a lock that the test has."""
    condition = "WHERE line.host_id = r.host_id"
    patch(database, "release_lines", condition, f", (SELECT pg_advisory_xact_lock({HOLD})) AS held {condition}")


async def release_while_admitting(records: Records, database: PostgresDatabase, peek: Peek) -> None:
    run, other = await running_run(records), await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    frontier = FrontierRecords(database)
    async with together() as started, locked(peek.url, f"SELECT pg_advisory_xact_lock({HOLD})") as let_go:
        releaser = started(frontier.report(ReportBatch(reports=[host_report(lease)])))
        await asyncio.wait_for(settled(releaser, peek), PATIENCE)
        assert not releaser.done()
        admitter = started(frontier.admit([url(other, path="/new")], {}))
        await asyncio.wait_for(settled(admitter, peek, others=1), PATIENCE)
        await let_go()
        assert not (await asyncio.wait_for(releaser, PATIENCE)).refused
        assert (await asyncio.wait_for(admitter, PATIENCE)).new == 1


async def test_without_the_lock_a_host_sleeps_on_its_work_for_ever(
    records: Records, database: PostgresDatabase, clock: FakeClock, peek: Peek
):
    hold_the_release(database)
    patch(database, "lock_lines", "FOR NO KEY UPDATE OF l", "")
    await release_while_admitting(records, database, peek)
    (fault,) = await faults(peek, clock.now())
    assert "wakes at None" in fault
    clock.advance(10**6)
    assert await claim(records) == {}


async def test_with_the_lock_the_host_wakes(records: Records, database: PostgresDatabase, clock: FakeClock, peek: Peek):
    hold_the_release(database)
    await release_while_admitting(records, database, peek)
    assert await faults(peek, clock.now()) == []
    assert [t.url for t in (await claim_one(records)).tasks] == ["https://a.example/new"]


@pytest.mark.parametrize("before", ["admit_tasks", "wake_lines", "count_runs"])
async def test_a_releaser_sees_the_tasks_that_were_admitted_before(
    records: Records, database: PostgresDatabase, clock: FakeClock, peek: Peek, before: str
):
    run, other = await running_run(records), await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    gate = Gate(before)
    admitter = FrontierRecords(GatedDatabase(database, gate))
    held = partial(admitter.admit, [url(other, path="/new")], {})
    await interleave(held, gate, partial(report, records, host_report(lease)), peek)
    assert await faults(peek, clock.now()) == []
    assert [t.url for t in (await claim_one(records)).tasks] == ["https://a.example/new"]
