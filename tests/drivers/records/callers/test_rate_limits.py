"""Token buckets of callers on both engines."""

import asyncio

from longline.drivers.records import open_records
from longline.ports.records import Records
from longline.ports.records.callers import Spending
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek


async def test_a_bucket_is_emptied_and_filled_by_the_minute(records: Records, clock: FakeClock):
    spend = records.rate_limits.spend
    first = await spend([Spending("ann", 60, 50), Spending("bob", 1, 3)])
    assert (first["ann"].granted, first["bob"].granted) == (50, 1)
    assert first["bob"].wait_ms == 60_000
    assert (await spend([Spending("ann", 60, 50)]))["ann"].granted == 10
    clock.advance(5)
    assert (await spend([Spending("ann", 60, 50)]))["ann"].granted == 5
    clock.advance(3600)
    assert (await spend([Spending("ann", 60, 500)]))["ann"].granted == 60, "a bucket holds the tokens of one minute"


async def test_processes_share_the_buckets(records: Records, records_url: str, clock: FakeClock):
    other = await open_records(records_url, clock)
    names = ("ann", "bob", "eve")
    orders = (names, names[::-1])
    rounds = [
        one.rate_limits.spend([Spending(name, 100, 7) for name in order])
        for _ in range(10)
        for one, order in zip((records, other), orders, strict=True)
    ]
    spent = await asyncio.gather(*rounds)
    assert [sum(each[name].granted for each in spent) for name in names] == [100, 100, 100]
    await other.schema.close()


async def test_full_buckets_are_deleted(records: Records, clock: FakeClock, peek: Peek):
    await records.rate_limits.spend([Spending("ann", 60, 1)])
    clock.advance(600)
    await records.rate_limits.spend([Spending("bob", 60, 1)])
    await records.rate_limits.forget(600_000)
    assert [tuple(row) for row in await peek.rows("SELECT name FROM rate_limits")] == [("bob",)]


async def test_an_hourly_bucket_gets_unused_tokens_back(records: Records, clock: FakeClock):
    hour = 3_600_000
    spend = records.rate_limits.spend
    assert (await spend([Spending("ann", 1000, 1000, period_ms=hour)]))["ann"].granted == 1000
    assert (await spend([Spending("ann", 1000, 1, period_ms=hour)]))["ann"].wait_ms == 3600
    assert (await spend([Spending("ann", 1000, 20, returned=7, period_ms=hour)]))["ann"].granted == 7
    clock.advance(36)
    assert (await spend([Spending("ann", 1000, 20, period_ms=hour)]))["ann"].granted == 10
