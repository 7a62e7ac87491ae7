"""Pages of recrawls are deleted after their age; the recrawls stay, and a body of later pages is kept."""

import pytest

from longline.engine.recrawls import page_retention
from longline.engine.recrawls.page_retention import RecrawlPageRetention
from longline.model.recrawls.recrawl_lists import RecrawlQuery
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.peek import Peek
from tests.drivers.records.recrawls.world import DAY_MS, recrawl, shop, submit
from tests.surfaces.products.tasks.crawling import worked


async def test_old_pages_are_deleted_and_their_recrawls_stay(
    records: Records, peek: Peek, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(page_retention, "BATCH_SIZE", 2)
    run = await shop(records)
    await submit(records, *(recrawl(run, f"/{number}") for number in range(5)))
    await worked(records)
    await peek.rows(f"UPDATE pages SET fetched_at = {clock.now()} RETURNING task_id")
    await peek.rows(f"INSERT INTO item_pages SELECT id, 1, {run.id}, 1 FROM recrawls RETURNING task_id")
    retention = RecrawlPageRetention(records.recrawl_pages, clock, 90 * DAY_MS)
    clock.advance(90 * DAY_MS / 1000)
    assert await retention.once() == 0, "not older than the age"
    clock.advance(0.001)
    waiting = (await records.recrawls.find(RecrawlQuery(sort="id", falling=False), limit=9)).rows[0].id
    await peek.rows(f"UPDATE recrawls SET rest = 'queued_parse' WHERE id = {waiting} RETURNING id")
    assert [await retention.once(), await retention.once()] == [4, 0]
    rows = (await records.recrawls.find(RecrawlQuery(), limit=9)).rows
    assert {row.id: row.has_page for row in rows} == {row.id: row.id == waiting for row in rows}
    assert await peek.rows("SELECT task_id FROM item_pages") == [(waiting,)]
