"""The runs that are assigned to sinks, on both engines."""

import msgspec

from longline.model.sinks.sink import ABANDONED_MS, SinkAddress, SinkRow
from longline.model.sources.source import NewSource, SourceRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.sinks.items import OpenRun, add_items
from tests.drivers.records.world import running_run

EVERY = SinkAddress.parse("x://every")
NAMED = SinkAddress.parse("books=x://named")


async def waiting(records: Records, sink: SinkRow) -> dict[int, int]:
    """Return the number of items that wait for a sink, by run."""
    return {run.run_id: run.last - run.position for run in await records.sinks.backlog(sink.id)}


async def a_source(records: Records, name: str, *sinks: str) -> SourceRow:
    return await records.sources.make(
        NewSource(name, f"https://{name}.example/", sinks=msgspec.json.encode(sinks).decode())
    )


async def run_with_items(records: Records, count: int, source: SourceRow | None = None) -> int:
    run = await running_run(records, source_id=source.id if source else None)
    await add_items(records, run, count)
    return run.id


async def test_new_items_are_assigned_to_their_sinks(records: Records):
    source, other = await a_source(records, "shop", "books"), await a_source(records, "news", "bookshelf")
    every, named = await records.sinks.register(EVERY), await records.sinks.register(NAMED)
    assert await records.sink_runs.assign_new() == 0
    runs = [await run_with_items(records, 2, one) for one in (source, other, None)]
    assert (await waiting(records, every), await waiting(records, named)) == ({}, {})
    assert await records.sink_runs.assign_new() == 3
    assert await waiting(records, every) == dict.fromkeys(runs, 2)
    assert await waiting(records, named) == {runs[0]: 2}
    assert await records.sink_runs.names() == {"books", "bookshelf"}
    assert await records.sink_runs.assign_new() == 0


async def test_items_that_are_added_after_a_delivery_wait_again(records: Records):
    sink = await records.sinks.register(EVERY)
    run = await OpenRun.begin(records, 2)
    await run.find(2)
    run_id = run.id
    await records.sink_runs.assign_new()
    lease = await records.sinks.claim(sink.id, 1, 1000)
    assert lease is not None
    await records.sinks.advance(lease, run_id, 2, 2)
    assert await records.sink_runs.undelivered([run_id]) == frozenset()
    await run.find(3)
    assert await records.sink_runs.undelivered([run_id]) == {run_id}, "before they are assigned"
    assert (await records.sink_progress.lags())[0].waiting == 3
    await records.sink_runs.assign_new()
    assert await waiting(records, sink) == {run_id: 3}
    # A delivery in progress when more items were added does not hide them.
    await records.sinks.advance(lease, run_id, 4, 2)
    assert await waiting(records, sink) == {run_id: 1}
    assert await records.sink_runs.undelivered([run_id, 4711]) == {run_id}


async def test_a_new_sink_begins_with_the_stored_runs(records: Records):
    source = await a_source(records, "shop", "books")
    first, second = await run_with_items(records, 1, source), await run_with_items(records, 2)
    await records.sinks.register(SinkAddress.parse("x://former"))
    await records.sink_runs.assign_new()
    assert await waiting(records, await records.sinks.register(EVERY)) == {first: 1, second: 2}
    assert await waiting(records, await records.sinks.register(NAMED)) == {first: 1}


async def test_a_sink_that_gets_a_name_gets_the_runs_of_that_name_alone(records: Records):
    first = await run_with_items(records, 1, await a_source(records, "shop", "books"))
    second = await run_with_items(records, 2)
    sink = await records.sinks.register(SinkAddress.parse("x://named"))
    assert await waiting(records, sink) == {first: 1, second: 2}
    await records.sinks.register(NAMED)
    assert await waiting(records, sink) == {first: 1}
    await records.sinks.register(SinkAddress.parse("x://named"))
    assert await waiting(records, sink) == {first: 1, second: 2}


async def test_a_source_that_names_a_sink_sends_its_stored_runs_and_none_after_the_name_is_removed(records: Records):
    source = await a_source(records, "shop")
    run_id = await run_with_items(records, 2, source)
    every, sink = await records.sinks.register(EVERY), await records.sinks.register(NAMED)
    await records.sink_runs.assign_new()
    assert await waiting(records, sink) == {}
    named = await records.sources.change(msgspec.structs.replace(source, sinks='["books"]'), source)
    assert named is not None
    assert await waiting(records, sink) == {run_id: 2}
    assert await records.sources.change(msgspec.structs.replace(named, sinks="[]"), named)
    assert (await waiting(records, sink), await waiting(records, every)) == ({}, {run_id: 2})


async def test_the_sink_of_a_crawl_gets_its_run_alone_unless_the_platform_has_it(records: Records):
    first, second = await run_with_items(records, 1), await run_with_items(records, 2)
    sink = await records.sinks.register_for(SinkAddress.parse("x://one"), second)
    assert await waiting(records, sink) == {second: 2}
    every = await records.sinks.register(EVERY)
    assert (await records.sinks.register_for(EVERY, second)).id == every.id
    third = await run_with_items(records, 1)
    await records.sink_runs.assign_new()
    assert await waiting(records, every) == {first: 1, second: 2, third: 1}
    assert await waiting(records, sink) == {second: 2}


async def test_a_sink_without_a_process_for_long_gets_no_runs_and_holds_back_no_deletion(
    records: Records, clock: FakeClock
):
    sink = await records.sinks.register(EVERY)
    first = await run_with_items(records, 1)
    await records.sink_runs.assign_new()
    clock.advance(ABANDONED_MS / 1000 - 1)
    assert await records.sink_runs.undelivered([first]) == {first}
    await records.sink_runs.see([sink.id])
    clock.advance(ABANDONED_MS / 1000 - 1)
    assert await records.sink_runs.undelivered([first]) == {first}
    clock.advance(2)
    assert await records.sink_runs.undelivered([first]) == frozenset()
    assert (await records.sink_progress.lags())[0].abandoned
    second = await run_with_items(records, 1)
    await records.sink_runs.assign_new()
    assert await waiting(records, sink) == {first: 1}
    # A sink that returns gets the runs that it missed.
    await records.sinks.register(EVERY)
    assert await waiting(records, sink) == {first: 1, second: 1}
