"""Pages of logs by number, level and time, on both engines; long logs cost no more than short ones."""

import asyncio
from collections.abc import Sequence

import pytest

from longline.model.logs.run_log import LEVELS, LogEntry, LogQuery, NewLogEntry, StoredLogPage
from longline.model.runs.run import RunRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import START, FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import running_run


def entries(run: RunRow, amount: int, levels: Sequence[str] = ("info",), at: int = START) -> list[NewLogEntry]:
    return [NewLogEntry(run.id, at, levels[n % len(levels)], "fetch", f"entry {n}") for n in range(amount)]


async def page(records: Records, run: RunRow, limit: int = 100, **query: object) -> StoredLogPage:
    found = await records.log_pages.page(run.id, LogQuery(**query), limit)  # type: ignore[arg-type]
    assert found is not None
    return found


def numbers(found: Sequence[LogEntry]) -> list[int]:
    return [entry.number for entry in found]


async def test_a_page_begins_after_a_number(records: Records):
    run = await running_run(records)
    await records.logs.append(entries(run, 10), {})
    assert numbers((await page(records, run, 3)).entries) == [1, 2, 3]
    assert numbers((await page(records, run, 3, after=3)).entries) == [4, 5, 6]
    assert numbers((await page(records, run, 3, after=9)).entries) == [10]
    assert numbers((await page(records, run, 3, after=10)).entries) == []


async def test_a_page_of_one_level(records: Records):
    run = await running_run(records)
    await records.logs.append(entries(run, 12, LEVELS), {})
    found = await page(records, run, level="warn")
    assert numbers(found.entries) == [3, 7, 11]
    assert numbers((await page(records, run, level="warn", after=3)).entries) == [7, 11]
    assert found.counts == {"debug": 3, "info": 3, "warn": 3, "error": 3}


async def test_times_rise_inside_a_run_even_if_clocks_go_back(records: Records):
    run, other = await running_run(records), await running_run(records)
    await records.logs.append(entries(run, 3), {})
    await records.logs.append(entries(run, 2, at=START - 5000), {})
    await records.logs.append(entries(run, 1, at=START + 1), {})
    await records.logs.append(entries(other, 1, at=START), {})
    times = [entry.at_us - 1000 * START for entry in (await page(records, run)).entries]
    assert times == [0, 1, 2, 3, 4, 1000]
    assert [entry.at_us for entry in (await page(records, other)).entries] == [1000 * START], "each run by itself"


async def test_a_reader_by_time_gets_each_entry_once_during_writes(records: Records):
    run = await running_run(records)
    seen: list[LogEntry] = []

    async def write(part: int) -> None:
        for _ in range(10):
            await records.logs.append(entries(run, 3, at=START + part), {})

    async def read() -> None:
        since = None
        while len(seen) < 90:
            found = await records.log_pages.page(run.id, LogQuery(since_us=since), 7)
            new = found.entries if found else []
            seen.extend(new)
            since = new[-1].at_us if new else since
            await asyncio.sleep(0.001)

    async with asyncio.timeout(60):
        await asyncio.gather(*(write(part) for part in range(3)), read())
    assert numbers(seen) == list(range(1, 91))


async def test_a_page_since_a_time_and_of_a_level(records: Records):
    run = await running_run(records)
    for n in range(6):
        await records.logs.append(entries(run, 2, ("info", "error"), at=START + n), {})
    since = 1000 * (START + 3)
    assert numbers((await page(records, run, since_us=since)).entries) == [8, 9, 10, 11, 12]
    assert numbers((await page(records, run, since_us=since, level="error")).entries) == [8, 10, 12]
    assert numbers((await page(records, run, since_us=since, after=9)).entries) == [10, 11, 12]
    assert numbers((await page(records, run, since_us=1)).entries) == list(range(1, 13))


async def test_counts_and_times_outlive_the_entries(records: Records, clock: FakeClock):
    run = await running_run(records)
    await records.logs.append(entries(run, 5, ("info", "warn")), {})
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    assert await records.logs.seal(run.id, entries(run, 1, ("error",)))
    assert await records.logs.archived(run.id, 0, "key", 10, 6)
    clock.advance(100)
    await records.logs.prune(1000, 10**9)
    found = await page(records, run)
    assert (found.entries, found.first, found.last, found.key, found.kept) == ([], None, 6, "key", 6)
    assert found.counts == {"debug": 0, "info": 3, "warn": 2, "error": 1}
    assert found.sealed


async def test_a_run_without_a_log_has_no_page(records: Records):
    assert await records.log_pages.page(4711, LogQuery(), 10) is None


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"after": 9_000}, "entries_pkey"),
        ({"after": 9_000, "level": "error"}, "entries_level"),
        ({"since_us": 1000 * START + 9_000}, "entries_time"),
    ],
)
async def test_a_page_of_a_long_log_is_read_by_an_index(
    records: Records, peek: Peek, query: dict[str, object], index: str
):
    run = await running_run(records)
    await records.logs.append(entries(run, 10_000, ("info", "info", "info", "error")), {})
    await peek.rows("ANALYZE entries")
    assert len((await page(records, run, 50, **query)).entries) == 50
    plan = {
        "entries_pkey": f"SELECT * FROM entries WHERE run_id = {run.id} AND number > 9000 ORDER BY number LIMIT 50",
        "entries_level": f"SELECT * FROM entries WHERE run_id = {run.id} AND level = 'error' AND number > 9000"
        " ORDER BY number LIMIT 50",
        "entries_time": f"SELECT number FROM entries WHERE run_id = {run.id} AND at_us <= {1000 * START + 9_000}"
        " ORDER BY at_us DESC LIMIT 1",
    }[index]
    lines = " ".join(line for (line,) in await peek.rows(f"EXPLAIN {plan}"))
    assert index in lines
    assert "Sort" not in lines
