"""Sinks for operators, and the ways to repair one."""

import pytest

from longline.model.errors import BadInput, Conflict, NotFound, SinkFailing
from longline.model.search.item import Made
from longline.model.sinks.sink import FAILING_MS, SinkAddress, SinkLease, SinkRow
from longline.ports.records import Records
from longline.services.sinks.sink_progress import SinkProgress, check_sink_names
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import running_run, visit

ADDRESS = SinkAddress.parse("books=https://a.example/hook?token=secret")


@pytest.fixture
def progress(records: Records) -> SinkProgress:
    return SinkProgress(records.sink_progress, records.items)


async def with_sink(records: Records) -> tuple[int, SinkRow, SinkLease]:
    run = await running_run(records)
    found: list[Made] = [("extraction", {"words": 1}), *(("book", {"url": f"https://a.example/{n}"}) for n in range(2))]
    await visit(records, run, {"/": found})
    await records.sinks.register(ADDRESS)
    sink = await records.sinks.register_for(ADDRESS, run.id)
    lease = await records.sinks.claim(sink.id, 1, 1000)
    assert lease is not None
    return run.id, sink, lease


async def test_only_the_next_item_can_be_skipped(records: Records, progress: SinkProgress):
    run_id, sink, lease = await with_sink(records)
    first, second = [item.position for item in await records.items.of_run(run_id, limit=9) if item.kind != "extraction"]
    await records.sinks.refuse(lease, run_id, first, "too long", 1000)
    with pytest.raises(Conflict, match=f"the next item of run {run_id} for sink {sink.id} is at position {first}, not"):
        await progress.skip(sink.id, run_id, second)
    with pytest.raises(NotFound, match="run 99 does not go to sink"):
        await progress.skip(sink.id, 99, first)
    assert (await progress.skip(sink.id, run_id, first)).url == "https://a.example/0"
    assert (await progress.skip(sink.id, run_id, second)).url == "https://a.example/1"
    with pytest.raises(Conflict, match=f"no item of run {run_id} waits for sink"):
        await progress.skip(sink.id, run_id, second)
    assert [(item.position, item.error) for item in await progress.skipped(sink.id, 9)] == [
        (first, "too long"),
        (second, ""),
    ]
    assert await progress.runs(sink.id, 9) == []


async def test_a_sink_is_found_by_number_and_by_name(records: Records, progress: SinkProgress):
    _, sink, _ = await with_sink(records)
    assert (await progress.get("books")).id == (await progress.get(str(sink.id))).id == sink.id
    with pytest.raises(NotFound, match="there is no sink bucks; longline sinks list shows all"):
        await progress.get("bucks")
    with pytest.raises(Conflict, match="take it out of the setting sinks"):
        await progress.remove(await progress.get("books"))


async def test_the_check_names_failing_sinks_and_no_address(records: Records, clock: FakeClock, progress: SinkProgress):
    _, _, lease = await with_sink(records)
    assert await progress.check() == "1 sinks"
    await records.sinks.fail(lease, "away", 1000)
    assert await progress.check() == "1 sinks"
    clock.advance(FAILING_MS / 1000)
    with pytest.raises(SinkFailing, match=r"^failing sinks: books$"):
        await progress.check()


@pytest.mark.parametrize(
    ("names", "known", "error"),
    [
        (["bucks"], ["books", "all"], "there is no sink 'bucks'; known are all, books. The setting sinks gives names"),
        (["books"], [], "there is no sink 'books'; no sink has a name"),
        (["books", "books"], ["books"], "names a sink twice"),
    ],
)
def test_unknown_names_of_sinks_are_refused(names: list[str], known: list[str], error: str):
    with pytest.raises(BadInput, match=error):
        check_sink_names(names, known)
    check_sink_names(known, known)
