"""The progress of sinks for the operator, on both engines."""

import pytest

from longline.model.errors import NotFound
from longline.model.sinks.sink import UNSEEN_MS, SinkAddress, SinkRunLag, SkippedItem
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.sinks.items import add_items
from tests.drivers.records.world import running_run

ADDRESS = SinkAddress.parse("books=x://a.example/b?token=secret")


async def with_items(records: Records, count: int) -> int:
    run = await running_run(records)
    await add_items(records, run, count)
    return run.id


async def test_a_skipped_item_is_recorded_and_the_sink_continues_after_it(records: Records, clock: FakeClock):
    run_id = await with_items(records, 2)
    sink = await records.sinks.register_for(ADDRESS, run_id)
    lease = await records.sinks.claim(sink.id, 1, 1000)
    assert lease is not None
    await records.sinks.refuse(lease, run_id, 1, "too long", 60_000)
    lag = await records.sink_progress.run(sink.id, run_id)
    assert lag == SinkRunLag(run_id, 0, 2, 1, 1, "too long")
    assert await records.sink_progress.skip(sink.id, lag, 1)
    assert not await records.sink_progress.skip(sink.id, lag, 1), "the sink has another position by now"
    assert await records.sink_progress.skipped(sink.id) == [SkippedItem(run_id, 1, clock.now(), "too long")]
    assert await records.sink_progress.runs(sink.id) == [SinkRunLag(run_id, 1, 2)]
    (found,) = await records.sink_progress.lags()
    assert (found.skipped, found.held_runs, found.waiting, found.delivered) == (1, 0, 1, 0)
    # A delivery in progress does not set the sink back.
    await records.sinks.advance(lease, run_id, 0, 0)
    assert await records.sink_progress.run(sink.id, run_id) == SinkRunLag(run_id, 1, 2)


async def test_a_failed_sink_and_its_refused_items_are_tried_at_once(records: Records):
    run_id = await with_items(records, 1)
    sink = await records.sinks.register(ADDRESS)
    await records.sinks.register_for(ADDRESS, run_id)
    lease = await records.sinks.claim(sink.id, 1, 1000)
    assert lease is not None
    await records.sinks.refuse(lease, run_id, 1, "too long", 60_000)
    await records.sinks.fail(lease, "away", 60_000)
    assert not await records.sinks.due(sink.id, 1)
    await records.sink_progress.retry(sink.id)
    assert await records.sinks.due(sink.id, 1)
    with pytest.raises(NotFound, match="no such sink: 99"):
        await records.sink_progress.retry(99)


async def test_a_sink_is_removed_when_no_process_has_it(records: Records, clock: FakeClock):
    run_id = await with_items(records, 1)
    sink = await records.sinks.register_for(ADDRESS, run_id)
    assert not await records.sink_progress.remove(sink.id)
    clock.advance(UNSEEN_MS / 1000)
    assert await records.sink_progress.remove(sink.id)
    assert await records.sink_progress.lags() == []
    assert await records.sink_progress.run(sink.id, run_id) is None
