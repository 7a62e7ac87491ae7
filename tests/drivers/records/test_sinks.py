"""Sinks, their leases and their positions on both engines."""

import pytest

from longline.model.errors import StaleLease
from longline.model.sinks.sink import SinkAddress, SinkBacklog, SinkLag, SinkLease, SinkRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import running_run, visit

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
    await visit(
        records, run, {"/": [("book", {"title": f"T{n}", "url": f"https://a.example/{n}"}) for n in range(count)]}
    )
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
    sink = await registered(records)
    lease = await claimed(records, sink, first.id)
    assert await records.sinks.claim(sink.id, second.id, LEASE_MS) is None
    clock.advance(LEASE_MS / 1000 - 1)
    await records.sinks.renew(lease, LEASE_MS)
    clock.advance(LEASE_MS / 1000 - 1)
    assert await records.sinks.claim(sink.id, second.id, LEASE_MS) is None
    clock.advance(1)
    await claimed(records, sink, second.id)
    run_id = await with_items(records, 1)
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


async def test_a_sink_goes_on_behind_its_position_in_each_run(records: Records):
    sink = await registered(records)
    first, second = await with_items(records, 3), await with_items(records, 2)
    await running_run(records)
    lease = await claimed(records, sink)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(first, 0, 3), SinkBacklog(second, 0, 2)]
    await records.sinks.advance(lease, first, 2, 2)
    await records.sinks.advance(lease, second, 2, 2)
    assert await records.sinks.backlog(sink.id) == [SinkBacklog(first, 2, 3)]
    assert await records.sinks.backlog(sink.id, first) == [SinkBacklog(first, 2, 3)]
    assert await records.sinks.backlog(sink.id, second) == []
    assert await records.sinks.lags() == [SinkLag(sink.id, "https://a.example/hook", 1, 4, 0, "")]


async def test_a_failed_sink_is_due_later_and_its_failures_are_counted(records: Records, clock: FakeClock):
    sink = await registered(records)
    run_id = await with_items(records, 1)
    await records.sinks.fail(await claimed(records, sink), "refused", 2000)
    assert await records.sinks.claim(sink.id, 1, LEASE_MS) is None
    assert await records.sinks.lags() == [SinkLag(sink.id, "https://a.example/hook", 1, 0, 1, "refused")]
    clock.advance(2)
    lease = await claimed(records, sink)
    assert lease.failures == 1
    await records.sinks.advance(lease, run_id, 1, 1)
    assert await records.sinks.lags() == [SinkLag(sink.id, "https://a.example/hook", 0, 1, 0, "")]
