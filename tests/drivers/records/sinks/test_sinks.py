"""Sinks, their leases and their positions on both engines."""

import pytest

from longline.model.errors import StaleLease
from longline.model.sinks.sink import SinkAddress, SinkBacklog, SinkLease, SinkRow, SinkRunLag
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.sinks.items import add_items
from tests.drivers.records.world import running_run

ADDRESS = SinkAddress.parse("https://a.example/hook#whsec_x")
LEASE_MS = 30_000


async def registered(records: Records) -> SinkRow:
    return await records.sinks.register(ADDRESS)


async def claimed(records: Records, sink: SinkRow, owner: int = 1) -> SinkLease:
    lease = await records.sinks.claim(sink.id, owner, LEASE_MS)
    assert lease is not None
    return lease


async def with_items(records: Records, count: int) -> int:
    run = await running_run(records)
    await add_items(records, run, count)
    return run.id


async def test_a_sink_is_known_by_its_address_without_secrets(records: Records):
    sink = await registered(records)
    again = await records.sinks.register(SinkAddress.parse("https://me:secret@a.example/hook#whsec_y"))
    other = await records.sinks.register(SinkAddress.parse("https://a.example/hook?tenant=2#whsec_x"))
    assert (again.id, again.uid) == (sink.id, sink.uid)
    assert other.id != sink.id
    assert other.uid != sink.uid


async def test_one_process_at_a_time_holds_a_sink(records: Records, clock: FakeClock):
    first, second = [await records.workers.join(name, "upkeep", name) for name in ("one", "two")]
    run_id = await with_items(records, 1)
    sink = await registered(records)
    lease = await claimed(records, sink, first.id)
    assert await records.sinks.claim(sink.id, second.id, LEASE_MS) is None
    clock.advance(LEASE_MS / 1000 - 1)
    await records.sinks.renew(lease, LEASE_MS)
    clock.advance(LEASE_MS / 1000 - 1)
    assert await records.sinks.claim(sink.id, second.id, LEASE_MS) is None
    clock.advance(1)
    await claimed(records, sink, second.id)
    with pytest.raises(StaleLease):
        await records.sinks.renew(lease, LEASE_MS)
    with pytest.raises(StaleLease):
        await records.sinks.advance(lease, run_id, 1, 1)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(run_id, 0, 1)]
    await records.sinks.release(lease)
    assert await records.sinks.claim(sink.id, first.id, LEASE_MS) is None


async def test_the_sink_of_a_removed_process_is_free_at_once(records: Records):
    sink = await registered(records)
    await claimed(records, sink, 4711)
    assert (await claimed(records, sink, 4712)).token == 2


async def test_a_sink_continues_after_its_position_in_each_run(records: Records):
    first, second = await with_items(records, 3), await with_items(records, 2)
    await running_run(records)
    sink = await registered(records)
    lease = await claimed(records, sink)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(first, 0, 3), SinkBacklog(second, 0, 2)]
    await records.sinks.advance(lease, first, 2, 2)
    await records.sinks.advance(lease, second, 2, 2)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(first, 2, 3)]
    assert await records.sinks.backlog_of(sink.id, first) == SinkBacklog(first, 2, 3)
    assert await records.sinks.backlog_of(sink.id, second) is None
    (lag,) = await records.sink_progress.lags()
    assert (lag.waiting, lag.delivered, lag.label) == (1, 4, "https://a.example/hook")


async def test_a_failed_sink_is_due_later_and_its_failures_are_counted(records: Records, clock: FakeClock):
    run_id = await with_items(records, 1)
    sink = await registered(records)
    await records.sinks.fail(await claimed(records, sink), "refused", 2000)
    assert await records.sinks.claim(sink.id, 1, LEASE_MS) is None
    assert not await records.sinks.due(sink.id, 1)
    clock.advance(2)
    (lag,) = await records.sink_progress.lags()
    assert (lag.waiting, lag.failures, lag.failing_ms, lag.error) == (1, 1, 2000, "refused")
    assert await records.sinks.due(sink.id, 1)
    lease = await claimed(records, sink)
    assert lease.failures == 1
    await records.sinks.advance(lease, run_id, 1, 1)
    (lag,) = await records.sink_progress.lags()
    assert (lag.waiting, lag.failures, lag.failing_ms, lag.error) == (0, 0, 0, "")
    assert not await records.sinks.due(sink.id, 1)


async def test_a_sink_that_another_living_process_holds_is_not_due(records: Records, clock: FakeClock):
    first, second = [await records.workers.join(name, "upkeep", name) for name in ("one", "two")]
    await with_items(records, 1)
    sink = await registered(records)
    await claimed(records, sink, first.id)
    assert await records.sinks.due(sink.id, first.id)
    assert not await records.sinks.due(sink.id, second.id)
    clock.advance(LEASE_MS / 1000)
    assert await records.sinks.due(sink.id, second.id)


async def test_a_refused_item_holds_back_its_run_alone(records: Records, clock: FakeClock):
    first, second = await with_items(records, 2), await with_items(records, 1)
    sink = await registered(records)
    lease = await claimed(records, sink)
    await records.sinks.refuse(lease, first, 1, "too long", 2000)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(second, 0, 1)]
    assert await records.sinks.backlog_of(sink.id, first) is None
    assert await records.sinks.backlog_of(sink.id, first, held=True) == SinkBacklog(first, 0, 2, 1)
    assert (await records.sink_progress.lags())[0].held_runs == 1
    assert (await records.sink_progress.runs(sink.id))[0] == SinkRunLag(first, 0, 2, 1, 1, "too long")
    clock.advance(2)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(first, 0, 2, 1), SinkBacklog(second, 0, 1)]
    await records.sinks.advance(lease, first, 1, 1)
    assert await records.sink_progress.run(sink.id, first) == SinkRunLag(first, 1, 2)
    assert (await records.sink_progress.lags())[0].held_runs == 0
