"""Rows that every change of tasks writes besides the tasks."""

from collections.abc import AsyncIterator

import orjson
import pytest

from longline.drivers.records import open_database
from longline.drivers.records.database import Database, Transaction, TryAgain
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters, column
from longline.model.errors import IllegalMove, Unavailable
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import get_run, queued_run, running_run


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[Database]:
    opened = await open_database(records_url, clock)
    yield opened
    await opened.close()


async def write(database: Database, ledger: RunCounters, actor: str = "worker") -> tuple[int, ...]:
    async def work(tx: Transaction) -> tuple[int, ...]:
        return await ledger.write(tx, actor)

    return await database.transact(work)


@pytest.mark.parametrize("state", TaskState)
def test_every_state_has_a_counter(state: TaskState):
    assert column(state) in {"open", "completed", "failed", "cancelled", "skipped"}
    assert column(None) is None


async def test_an_empty_ledger_writes_nothing(database: Database, records: Records, peek: Peek):
    await running_run(records)
    before = await peek.snapshot()
    assert await write(database, RunCounters()) == ()
    assert await peek.snapshot() == before


async def test_moves_are_counted_listed_and_given_their_fates(database: Database, records: Records):
    run = await running_run(records)
    ledger = RunCounters()
    ledger.count_moves([MovedTasks(n, run.id, None, "pending", "") for n in range(3)], listed=False)
    ledger.count_moves(
        [MovedTasks(0, run.id, "pending", "completed", "ok"), MovedTasks(1, run.id, "pending", "pending", "dns")]
    )
    ledger.count_apart({(run.id, "offsite"): 2})
    assert ledger.runs == {run.id}
    assert await write(database, ledger) == ()
    row = await get_run(records, run.id)
    assert (row.admitted, row.open, row.completed) == (3, 2, 1)
    assert [(f.fate, f.reason, f.count) for f in await records.runs.fates(run.id)] == [
        ("completed", "ok", 1),
        ("refused", "offsite", 2),
    ]
    event = (await records.events.find())[-1]
    assert orjson.loads(event.moves or "") == [[0, "pending", "completed", "ok"], [1, "pending", "pending", "dns"]]


async def test_a_fate_that_is_taken_back_is_not_shown(database: Database, records: Records):
    run = await running_run(records)
    ledger = RunCounters()
    ledger.count_moves([MovedTasks(n, run.id, None, "pending", "") for n in range(2)], listed=False)
    ledger.count_moves([MovedTasks(1, run.id, "pending", "failed", "dns")])
    await write(database, ledger)
    back = RunCounters()
    back.count_moves([MovedTasks(1, run.id, "failed", "pending", "again", was_reason="dns")])
    await write(database, back)
    assert await records.runs.fates(run.id) == []
    assert (await get_run(records, run.id)).open == 2


async def test_sums_that_do_not_add_up_are_not_committed(database: Database, records: Records, peek: Peek):
    run = await running_run(records)
    before = await peek.snapshot()
    ledger = RunCounters()
    ledger.count_moves([MovedTasks(1, run.id, "completed", "pending", "x", was_reason="ok")])
    ledger.count_moves([MovedTasks(1, run.id, "pending", "pending", "x")])
    ledger.count_moves(
        [MovedTasks(2, run.id, "pending", "completed", "x"), MovedTasks(3, run.id, "pending", "completed", "x")]
    )
    with pytest.raises(Exception, match=r"(?i)check constraint"):
        await write(database, ledger)
    assert await peek.snapshot() == before


async def test_urls_for_a_run_that_has_just_ended_are_decided_again(database: Database, records: Records, peek: Peek):
    run = await running_run(records)
    await records.moves.apply(Change("run", run.id, "finish", "running", "completed", "worker"))
    before = await peek.snapshot()
    ledger = RunCounters()
    ledger.count_moves([MovedTasks(1, run.id, None, "pending", "")], listed=False)
    with pytest.raises((TryAgain, Unavailable), match="ended while it was given URLs"):
        await write(database, ledger)
    assert await peek.snapshot() == before


async def test_a_cancelled_run_stays_cancelled(database: Database, records: Records, peek: Peek):
    run = await running_run(records)
    ledger = RunCounters()
    ledger.count_moves(
        [MovedTasks(1, run.id, None, "pending", ""), MovedTasks(1, run.id, "pending", "completed", "ok")]
    )
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    await write(database, ledger)
    before = await peek.snapshot()
    again = RunCounters()
    again.count_moves([MovedTasks(1, run.id, "completed", "pending", "again", was_reason="ok")])
    with pytest.raises(IllegalMove, match="cannot reopen a run that is cancelled"):
        await write(database, again, "person")
    assert await peek.snapshot() == before


async def test_a_queued_run_does_not_end(database: Database, records: Records):
    run = await queued_run(records)
    ledger = RunCounters()
    ledger.count_moves(
        [MovedTasks(1, run.id, None, "pending", ""), MovedTasks(1, run.id, "pending", "completed", "ok")]
    )
    assert await write(database, ledger) == ()
    assert (await get_run(records, run.id)).state == "queued"
