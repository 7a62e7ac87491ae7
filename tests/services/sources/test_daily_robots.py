"""The robots.txt of sources with recrawls is fetched once a day."""

from msgspec.structs import replace

from longline.model.duration import DAY_MS
from longline.model.recrawls.hold import Hold
from longline.model.sources.source import SourceRow
from longline.ports.http import FetchFailed
from longline.ports.records import Records
from longline.services.sources.daily_robots import RETRY_SECONDS, DailyRobots
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.world import recrawl, shop, submit
from tests.services.sources.test_source_robots import URL, Stage

TEXT = "User-agent: *\nCrawl-delay: 5\n"


async def test_the_rules_of_a_shop_are_fetched_again_after_a_day(records: Records, clock: FakeClock):
    stage, run = Stage(records, clock), await shop(records)
    stage.says(TEXT)
    daily = DailyRobots(records.recrawls, stage.robots, clock)

    async def stored() -> SourceRow:
        return await stage.sources.get(run.source_id or 0)

    assert await daily.once() == 0, "the source has no recrawl yet"
    await submit(records, recrawl(run))
    assert [await daily.once(), await daily.once()] == [1, 0]
    row = await stored()
    assert (row.robots_url, row.robots_text, row.robots_fetched_at, row.delay_ms) == (URL, TEXT, clock.now(), 5000)
    clock.advance(DAY_MS / 1000 - 1)
    assert await daily.once() == 0
    clock.advance(1)
    await stage.sources.change(row.id, lambda was: replace(was, delay_ms=8000))
    assert await daily.once() == 1
    assert (await stored()).delay_ms == 8000, "a shorter Crawl-delay is not taken over"


async def test_rules_that_could_not_be_fetched_are_requested_again_after_an_hour(records: Records, clock: FakeClock):
    stage, run = Stage(records, clock), await shop(records)
    await submit(records, recrawl(run))
    stage.http.on(URL, FetchFailed("refused", "connection refused"))
    daily = DailyRobots(records.recrawls, stage.robots, clock)
    assert await daily.once() == 0
    stage.says(TEXT)
    clock.advance(RETRY_SECONDS - 1)
    assert await daily.once() == 0
    clock.advance(1)
    assert await daily.once() == 1


async def test_a_shop_that_is_disabled_or_held_is_left_alone(records: Records, clock: FakeClock):
    stage, run = Stage(records, clock), await shop(records)
    await submit(records, recrawl(run))
    stage.says(TEXT)
    daily, source_id = DailyRobots(records.recrawls, stage.robots, clock), run.source_id or 0
    await records.holds.hold(Hold(run.id, "maintenance", 0, clock.now() + 1000))
    assert await daily.once() == 0
    clock.advance(1)
    await stage.sources.switch(source_id, False)
    assert await daily.once() == 0
    await stage.sources.switch(source_id, True)
    assert await daily.once() == 1
