"""Transactions on both engines: all or nothing, with one clock reading each."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from longline.drivers.records import open_database
from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.sources.source import SourceRow
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import source


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[Database]:
    opened = await open_database(records_url, clock)
    yield opened
    await opened.close()


async def add(name: str, tx: Transaction) -> Row | None:
    await tx.all("add_source", **source(name, "https://a.example/"))
    return await tx.one("source_by_name", name=name)


async def test_a_transaction_that_returns_is_committed(database: Database, peek: Peek):
    row = await database.transact(partial(add, "kept"))
    assert row is not None
    assert struct(row, SourceRow).enabled is True
    assert await peek.rows("SELECT name FROM sources") == [("kept",)]


async def test_a_transaction_that_raises_is_rolled_back(database: Database, peek: Peek):
    async def work(tx: Transaction) -> None:
        await add("lost", tx)
        raise RuntimeError("on the way")

    with pytest.raises(RuntimeError, match="on the way"):
        await database.transact(work)
    assert await peek.rows("SELECT * FROM sources") == []
    await database.transact(partial(add, "after"))


async def test_a_statement_that_fails_rolls_all_back(database: Database, peek: Peek):
    async def work(tx: Transaction) -> None:
        await add("lost", tx)
        await tx.all("add_source", **source(None))

    with pytest.raises(Exception, match=r"(?i)null"):
        await database.transact(work)
    assert await peek.rows("SELECT * FROM sources") == []
    assert await database.transact(partial(add, "after"))


async def test_a_transaction_has_one_reading_of_the_clock(database: Database, clock: FakeClock, peek: Peek):
    async def work(tx: Transaction) -> int:
        await add("first", tx)
        clock.advance(1)
        await add("second", tx)
        return tx.now

    now = await database.transact(work)
    assert await peek.rows("SELECT DISTINCT created_at FROM sources") == [(now,)]


async def test_a_batch_without_rows_runs_no_statement(database: Database, peek: Peek):
    before = await peek.snapshot()
    assert await database.transact(lambda tx: tx.batch("add_hosts", [])) == []
    assert await peek.snapshot() == before


async def test_concurrent_transactions_lose_nothing(database: Database, peek: Peek):
    await asyncio.gather(*(database.transact(partial(add, f"s{n}")) for n in range(40)))
    assert await peek.value("SELECT COUNT(*) FROM sources") == 40
