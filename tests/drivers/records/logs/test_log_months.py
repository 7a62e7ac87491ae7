"""Logs that are kept by month, on both engines: each statement reads the months of its run alone."""

import pytest

from longline.model.ids import new_id
from longline.model.logs.log_months import following_month, month_of, start_us
from longline.model.logs.run_log import LEVELS, LogQuery, NewLogEntry
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import START, FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import get_run, running_run

PRESENT = month_of(1000 * START)
LAST, BEFORE = following_month(PRESENT, -1), following_month(PRESENT, -2)
MONTHS = (BEFORE, LAST, PRESENT)


async def series_run(records: Records) -> RunRow:
    run = await records.runs.add(NewRun(new_id(), RunKind.SERIES, "{}", "https://a.example/"))
    assert await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    return await get_run(records, run.id)


async def say(records: Records, run: RunRow, month: int, amount: int = 4) -> None:
    """Write entries in the middle of a month, one of each level in turn."""
    at = start_us(month) // 1000 + 10 * 86_400_000
    entries = [NewLogEntry(run.id, at + n, LEVELS[n % 4], "fetch", f"{month} {n}") for n in range(amount)]
    assert await records.logs.append(entries, {}) == {run.id}


async def written(records: Records) -> RunRow:
    """Return a run with four entries in each of three months."""
    run = await series_run(records)
    for month in MONTHS:
        await records.catalogues.log_months.make(month)
        await say(records, run, month)
    return run


async def numbers(records: Records, run: RunRow, limit: int = 100, **query: object) -> list[int]:
    found = await records.log_pages.page(run.id, LogQuery(**query), limit)  # type: ignore[arg-type]
    assert found is not None
    return [entry.number for entry in found.entries]


async def test_entries_of_three_months_are_one_log(records: Records):
    run = await written(records)
    assert await numbers(records, run) == list(range(1, 13))
    assert await numbers(records, run, 6) == list(range(1, 7))
    assert await numbers(records, run, 6, after=3) == list(range(4, 10))
    assert await numbers(records, run, level="warn") == [3, 7, 11]
    assert await numbers(records, run, since_us=start_us(LAST)) == list(range(5, 13))
    assert await numbers(records, run, since_us=start_us(BEFORE) - 1) == list(range(1, 13))
    assert await numbers(records, run, since_us=start_us(following_month(PRESENT))) == []
    part = await records.logs.read(run.id, 7, 3)
    assert [entry.number for entry in part.entries] == [8, 9, 10]
    newest = await records.logs.tail(run.uid, run.uid, 5)
    assert [entry.number for entry in newest] == [8, 9, 10, 11, 12]


async def test_logs_of_other_runs_are_not_kept_by_month(records: Records, peek: Peek):
    run = await running_run(records)
    await say(records, run, PRESENT)
    assert await numbers(records, run) == [1, 2, 3, 4]
    assert await peek.rows("SELECT COUNT(*) FROM monthly_entries") == [(0,)]


async def test_a_month_is_made_once(records: Records):
    months = records.catalogues.log_months
    assert await months.make(PRESENT)
    assert not await months.make(PRESENT)
    assert [each.month for each in await months.find()] == [PRESENT]


async def test_entries_of_a_month_that_was_not_made_are_moved_into_it(records: Records):
    run, months = await series_run(records), records.catalogues.log_months
    await say(records, run, LAST)
    await say(records, run, PRESENT)
    assert await months.unmade() == [LAST, PRESENT]
    assert await months.make(LAST)
    assert await months.unmade() == [PRESENT]
    assert await numbers(records, run) == list(range(1, 9))


async def test_the_pruner_leaves_the_logs_of_catalogues_to_the_month(records: Records, clock: FakeClock):
    run = await written(records)
    assert await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    assert await records.logs.seal(run.id, [NewLogEntry(run.id, START, "info", "lifecycle", "end")])
    assert await records.logs.unarchived() == []
    clock.advance(10**6)
    assert await records.logs.prune(1, 1, unkept=True) == []
    assert await numbers(records, run) == list(range(1, 14))
    await records.retention.mark(run.id)
    while not (await records.retention.delete_piece(run.id, 100)).is_gone:
        pass
    assert await records.runs.get(run.id) is None
    await records.logs.prune(1, 1, unkept=True)
    assert await numbers(records, run) == list(range(1, 14)), "a log outlives its run"
    [line] = await records.catalogues.log_months.lines(BEFORE, (0, 0), 1)
    assert line.uid == run.uid


async def test_a_month_is_dropped_after_all_its_lines_were_archived(records: Records):
    run, other, months = await written(records), await series_run(records), records.catalogues.log_months
    await say(records, other, BEFORE)
    assert not await months.drop(BEFORE), "the month is not archived"
    assert not await months.archived(BEFORE, 7, 1), "the month has eight entries"
    lines = await months.lines(BEFORE, (0, 0), 3)
    lines += await months.lines(BEFORE, (lines[-1].run_id, lines[-1].number), 100)
    assert [(line.run_id, line.number) for line in lines] == [
        (each.id, n) for each in (run, other) for n in (1, 2, 3, 4)
    ]
    assert await months.archived(BEFORE, 8, 1)
    assert await months.drop(BEFORE)
    assert not await months.drop(BEFORE)
    assert [each.month for each in await months.find()] == [LAST, PRESENT]
    found = await records.log_pages.page(run.id, LogQuery(), 100)
    assert found is not None
    assert (found.first, found.last, [entry.number for entry in found.entries]) == (5, 12, list(range(5, 13)))
    assert found.counts == dict.fromkeys(LEVELS, 2)
    assert await records.log_pages.page(other.id, LogQuery(), 100) is None, "no entry of this log is left"


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_each_month_is_a_partition(records: Records, peek: Peek):
    await written(records)
    sizes = {
        month: (await peek.rows(f"SELECT COUNT(*) FROM log_{month // 100}_{month % 100:02}"))[0][0] for month in MONTHS
    }
    assert sizes == dict.fromkeys(MONTHS, 4)
    assert await peek.rows("SELECT COUNT(*) FROM log_default") == [(0,)]


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "query",
    [
        "number > 9000 ORDER BY number LIMIT 50",
        "level = 'error' AND number > 9000 ORDER BY number LIMIT 50",
        "at_us <= 99 ORDER BY at_us DESC LIMIT 1",
    ],
)
async def test_a_page_reads_the_month_of_its_run_alone(records: Records, peek: Peek, query: str):
    run = await written(records)
    text = f"SELECT * FROM monthly_entries WHERE month = {LAST} AND run_id = {run.id} AND {query}"
    plan = " ".join(line for (line,) in await peek.rows(f"EXPLAIN {text}"))
    assert f"log_{LAST // 100}_{LAST % 100:02}" in plan
    for month in ("log_default", *(f"log_{each // 100}_{each % 100:02}" for each in (BEFORE, PRESENT))):
        assert month not in plan
    assert "Sort" not in plan
