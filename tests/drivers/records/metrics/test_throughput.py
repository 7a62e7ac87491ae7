"""Throughput on both engines."""

from longline.model.metrics.throughput import WINDOWS, ThroughputCount, WorkerThroughput
from longline.ports.records import Records
from longline.testing.clock import FakeClock

MINUTE, HOUR = 60_000, 3_600_000
PAGES, FAILED = ("pages", ""), ("failures", "http_429")


async def test_processes_add_to_the_current_minute_and_hours_are_summed(records: Records, clock: FakeClock):
    clock.advance((HOUR - clock.now() % HOUR) / 1000)
    start = clock.now()
    for worker in ("a", "b"):
        for _ in range(2):
            await records.counters.add({"x": 1}, WorkerThroughput(worker, {PAGES: 2, FAILED: 1}))
    clock.advance(90)
    await records.counters.add({}, WorkerThroughput("a", {PAGES: 5}))
    found = await records.throughput.find(WINDOWS["1h"], clock.now())
    assert sorted(found, key=lambda one: (one.at, one.measure)) == [
        ThroughputCount(start, "failures", "http_429", 4),
        ThroughputCount(start, "pages", "", 8),
        ThroughputCount(start + MINUTE, "pages", "", 5),
    ]
    by_five = await records.throughput.find(WINDOWS["6h"], clock.now())
    assert {(one.at, one.measure): one.count for one in by_five} == {(start, "failures"): 4, (start, "pages"): 13}
    for _ in range(2):
        await records.throughput.upkeep()
        hours = await records.throughput.find(WINDOWS["2d"], clock.now())
        assert {(one.at, one.measure): one.count for one in hours} == {(start, "failures"): 4, (start, "pages"): 13}


async def test_minutes_are_kept_for_two_days_and_hours_for_ninety(records: Records, clock: FakeClock):
    await records.counters.add({}, WorkerThroughput("a", {PAGES: 5}))
    await records.throughput.upkeep()
    clock.advance(2 * 86_400 + 60)
    await records.throughput.upkeep()
    week = WINDOWS["90d"]
    assert [one.count for one in await records.throughput.find(week, clock.now())] == [5]
    clock.advance(90 * 86_400)
    await records.throughput.upkeep()
    assert await records.throughput.find(week, clock.now()) == []
