"""Upkeep of log months: made ahead, archived whole, then deleted; on both engines."""

from datetime import UTC, datetime

import pytest

from longline.drivers.blobs import open_blobs
from longline.engine.logs import log_months
from longline.engine.logs.log_months import LogMonthKeeper, decode_lines
from longline.model.logs.log_months import MonthLine, following_month, month_name, month_of
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.testing.clock import START, FakeClock
from tests.drivers.records.logs.test_log_months import say, series_run

PRESENT = month_of(1000 * START)


@pytest.fixture
def blobs() -> Blobs:
    return open_blobs("memory://")


@pytest.fixture
def keeper(records: Records, blobs: Blobs, clock: FakeClock) -> LogMonthKeeper:
    return LogMonthKeeper(records.catalogues.log_months, blobs, clock)


async def archived(blobs: Blobs) -> list[MonthLine]:
    keys = [info.key async for info in blobs.list("logs/months/")]
    return [line for key in keys for line in decode_lines(await blobs.get(key))]


async def test_the_present_month_and_the_next_are_made(records: Records, keeper: LogMonthKeeper, clock: FakeClock):
    assert await keeper.make_ahead() == [month_name(PRESENT), month_name(following_month(PRESENT))]
    assert await keeper.make_ahead() == []
    after = datetime.fromtimestamp(START / 1000, UTC)
    clock.advance(86_400.0 * (32 - after.day))
    assert await keeper.make_ahead() == [month_name(following_month(PRESENT, 2))]
    assert len(await records.catalogues.log_months.find()) == 3


async def test_an_old_month_is_archived_line_by_line_and_deleted(
    records: Records, keeper: LogMonthKeeper, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(log_months, "BATCH_SIZE", 5)
    old, kept = following_month(PRESENT, -7), following_month(PRESENT, -6)
    runs = [await series_run(records) for _ in range(3)]
    for run in runs:
        await say(records, run, old, 7)
        await say(records, run, kept, 2)
    before = {run.id: (await records.logs.read(run.id, 0, 100)).entries for run in runs}
    await keeper.once()
    lines = await archived(blobs)
    assert [line.entry for line in lines] == [entry for run in runs for entry in before[run.id][:7]]
    assert [line.uid for line in lines] == [run.uid for run in runs for _ in range(7)]
    assert len([info async for info in blobs.list("logs/months/")]) == 5
    for run in runs:
        assert (await records.logs.read(run.id, 0, 100)).entries == before[run.id][7:]
    assert kept in [each.month for each in await records.catalogues.log_months.find()]
    await keeper.once()
    assert await archived(blobs) == lines


async def test_a_month_that_was_archived_by_a_killed_process_is_only_deleted(
    records: Records, keeper: LogMonthKeeper, blobs: Blobs
):
    old, months = following_month(PRESENT, -8), records.catalogues.log_months
    run = await series_run(records)
    await say(records, run, old)
    await keeper.make_ahead()
    assert await months.archived(old, 4, 1)
    assert [each.month for each in await keeper.archive_old()] == [old]
    assert (await records.logs.read(run.id, 0, 100)).entries == []
    assert await archived(blobs) == []
