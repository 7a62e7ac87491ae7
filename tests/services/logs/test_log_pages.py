"""Pages of logs from the database and the archive, on each engine."""

import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.signals.local import LocalSignals
from longline.engine.logs.run_log_keeper import RunLogKeeper, RunLogKeeperSettings
from longline.model.errors import BadInput
from longline.model.logs.run_log import LogPage, LogQuery, NewLogEntry
from longline.model.runs.run import RunRow
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.services.logs.log_pages import MAX_PAGE_ENTRIES, LogPages
from longline.testing.clock import FakeClock
from tests.drivers.records.world import running_run


@pytest.fixture
def blobs() -> Blobs:
    return open_blobs("memory:///")


@pytest.fixture
def pages(records: Records, blobs: Blobs) -> LogPages:
    return LogPages(records.log_pages, blobs)


async def say(records: Records, run: RunRow, clock: FakeClock, *texts: str, level: str = "info") -> None:
    entries = [NewLogEntry(run.id, clock.now(), level, "fetch", text, '{"n":1}') for text in texts]
    await records.logs.append(entries, {})


async def end_and_empty(records: Records, blobs: Blobs, run: RunRow, clock: FakeClock) -> None:
    """End a run, and let the keeper archive its log and delete the entries."""
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    settings = RunLogKeeperSettings(entries_ms=1000)
    keeper = RunLogKeeper(records.logs, blobs, LocalSignals(), clock, settings)
    for _ in range(3):
        clock.advance(120)
        await keeper.once()
    assert (await records.logs.read(run.id, 0, 10)).entries == []


def texts(page: LogPage) -> list[tuple[int, str]]:
    return [(entry.number, entry.message) for entry in page.entries]


async def test_a_page_is_the_same_before_and_after_the_entries_are_deleted(
    records: Records, blobs: Blobs, pages: LogPages, clock: FakeClock
):
    run = await running_run(records)
    await say(records, run, clock, "a", "b", "c")
    clock.advance(1)
    await say(records, run, clock, "d", level="error")
    queries = [LogQuery(), LogQuery(after=2), LogQuery(level="error"), LogQuery(since_us=1000 * clock.now() - 1)]
    before = [await pages.get(run.id, query, 3) for query in queries]
    assert [texts(page) for page in before] == [
        [(1, "a"), (2, "b"), (3, "c")],
        [(3, "c"), (4, "d")],
        [(4, "d")],
        [(4, "d")],
    ]
    await end_and_empty(records, blobs, run, clock)
    after = [await pages.get(run.id, query, 3) for query in queries]
    firsts = [page.entries[: len(old.entries)] for page, old in zip(after, before, strict=True)]
    assert firsts == [old.entries for old in before], "times and fields included"
    assert [page.total for page in after] == [5, 5, 1, 5], "with the entry about the end"
    assert after[0].counts == {"debug": 0, "info": 4, "warn": 0, "error": 1}
    assert not any(page.truncated for page in after)
    assert texts(await pages.get(run.id, LogQuery(after=5), 3)) == []


async def test_a_log_that_opened_again_is_read_from_both_places(
    records: Records, blobs: Blobs, pages: LogPages, clock: FakeClock
):
    run = await running_run(records)
    await say(records, run, clock, "a", "b")
    await records.moves.apply(Change("run", run.id, "fail", "running", "failed", "worker"))
    keeper = RunLogKeeper(records.logs, blobs, LocalSignals(), clock, RunLogKeeperSettings(entries_ms=1000))
    for _ in range(3):
        clock.advance(120)
        await keeper.once()
    await records.moves.apply(Change("run", run.id, "reopen", "failed", "running", "person"))
    await say(records, run, clock, "again")
    page = await pages.get(run.id, LogQuery())
    assert texts(page) == [(1, "a"), (2, "b"), (3, "run failed"), (4, "again")]
    assert texts(await pages.get(run.id, LogQuery(after=1), 2)) == [(2, "b"), (3, "run failed")]
    times = [entry.at_us for entry in page.entries]
    assert times == sorted(set(times))


async def test_a_page_with_lost_entries_is_marked_as_truncated(
    records: Records, blobs: Blobs, pages: LogPages, clock: FakeClock
):
    run = await running_run(records)
    await say(records, run, clock, "a", "b")
    await end_and_empty(records, blobs, run, clock)
    await blobs.delete([f"logs/{run.uid}/1.log.gz"])
    page = await pages.get(run.id, LogQuery())
    assert (page.entries, page.truncated, page.total, page.last) == ([], True, 3, 3)


async def test_a_run_without_a_log_has_an_empty_page(pages: LogPages):
    assert await pages.get(4711, LogQuery()) == LogPage([], {"debug": 0, "info": 0, "warn": 0, "error": 0})


async def test_pages_are_bounded_and_unknown_levels_are_refused(records: Records, pages: LogPages, clock: FakeClock):
    run = await running_run(records)
    await say(records, run, clock, *map(str, range(MAX_PAGE_ENTRIES + 1)))
    assert len((await pages.get(run.id, LogQuery(), 10**6)).entries) == MAX_PAGE_ENTRIES
    with pytest.raises(BadInput, match="level must be one of debug, info, warn, error"):
        await pages.get(run.id, LogQuery(level="loud"))
