"""Times at which sitemaps are read, on both engines."""

import asyncio
from functools import partial

import pytest

from longline.model.errors import NotFound
from longline.model.feeds.sitemap import SITEMAP_INTERVAL_MS, SitemapRow, answered, asked
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek

HOLD = 600_000


async def sources(records: Records, count: int = 3) -> list[int]:
    return [(await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/"))).id for n in range(count)]


async def due(records: Records, limit: int = 100) -> list[int]:
    return sorted(row.source_id for row in await records.sitemaps.claim(limit, HOLD))


async def test_a_due_sitemap_is_claimed_once(records: Records, clock: FakeClock) -> None:
    made = await sources(records, 5)
    got = await asyncio.gather(*(due(records, limit=2) for _ in range(5)))
    assert sorted(source_id for some in got for source_id in some) == made
    assert await due(records) == []
    clock.advance(HOLD / 1000)
    assert await due(records) == made, "the process that claimed the sitemaps was lost"


async def test_only_enabled_sources_with_wanted_feeds_are_due(records: Records, peek: Peek) -> None:
    wanted, off, unwanted = await sources(records)
    await peek.rows(f"UPDATE sources SET enabled = FALSE WHERE id = {off}")
    await peek.rows(f"UPDATE sources SET feed_wanted = FALSE WHERE id = {unwanted}")
    assert await due(records) == [wanted]


async def test_a_run_follows_another_until_the_last_is_answered(records: Records, clock: FakeClock) -> None:
    [source_id] = await sources(records, 1)
    change = partial(records.sitemaps.change, source_id)
    first = await change(partial(asked, run_id=7, level=1, after=None))
    assert first == SitemapRow(source_id, 1, 7)
    assert await records.sitemaps.answered(10) == [first], "a deleted run counts as answered too"
    assert await change(partial(asked, run_id=8, level=1, after=None)) is None, "another run was started first"
    assert await due(records) == []
    assert await change(partial(asked, run_id=9, level=2, after=7)) == SitemapRow(source_id, 2, 9)
    assert await change(partial(answered, run_id=7)) is None
    assert await change(partial(answered, run_id=9)) == SitemapRow(source_id, due_at=clock.now() + SITEMAP_INTERVAL_MS)
    assert await due(records) == []
    clock.advance(SITEMAP_INTERVAL_MS / 1000)
    assert await due(records) == [source_id]


async def test_a_sitemap_needs_an_existing_source(records: Records) -> None:
    with pytest.raises(NotFound, match="no such source: 5"):
        await records.sitemaps.change(5, partial(answered, run_id=1))
