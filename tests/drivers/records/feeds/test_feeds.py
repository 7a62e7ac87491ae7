"""Feeds on both engines."""

import asyncio
from functools import partial

import msgspec
import pytest

from longline.model.errors import NotFound
from longline.model.feeds.feed_poll import FeedRow, Seen, asked, disabled, dropped, failed, succeeded
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import START, FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim, ended, host_report, report, running_run, url

HOLD = 600_000


async def source(records: Records, name: str, feed: str | None = "/feed") -> int:
    """Add a source, with its feed unless the feed is unknown; return the id."""
    where = f"https://{name}.example{feed}" if feed else None
    return (await records.sources.add(NewSource(name, f"https://{name}.example/", feed_url=where))).id


async def due(records: Records, *, searching: bool = False, limit: int = 100) -> list[int]:
    return sorted(feed.source_id for feed in await records.feeds.claim(limit, HOLD, searching=searching))


async def answered(records: Records, *, searching: bool = False) -> list[int]:
    return [feed.source_id for feed in await records.feeds.answered(100, searching=searching)]


async def test_a_changed_feed_is_stored_unchanged(records: Records) -> None:
    source_id = await source(records, "a", feed=None)
    assert await records.feeds.get(source_id) == FeedRow(source_id)
    assert await records.feeds.get(5) is None
    every_fact = FeedRow(
        source_id, "https://a.example/", False, 5, "poll", 3, 4, 5, 6, "e", "l", 7, 8, "why", "gone", 9, "gone"
    )

    assert await records.feeds.change(source_id, lambda _feed, _now: every_fact) == every_fact

    assert await records.feeds.get(source_id) == every_fact
    assert await records.feeds.change(source_id, lambda _feed, _now: None) is None
    assert await records.feeds.get(source_id) == every_fact


async def test_a_feed_needs_an_existing_source(records: Records) -> None:
    with pytest.raises(NotFound, match="no such source: 5"):
        await records.feeds.change(5, partial(disabled, reason="gone"))


async def test_a_change_gets_the_time_and_the_current_feed(records: Records, clock: FakeClock) -> None:
    source_id = await source(records, "a", feed=None)
    told: list[tuple[FeedRow, int]] = []

    await records.feeds.change(source_id, lambda feed, now: told.append((feed, now)))

    assert told == [(FeedRow(source_id), START)]


async def test_concurrent_changes_are_applied_one_after_the_other(records: Records) -> None:
    source_id = await source(records, "a")

    def one_more(feed: FeedRow, _now: int) -> FeedRow:
        return FeedRow(feed.source_id, feed.url, errors=feed.errors + 1)

    await asyncio.gather(*(records.feeds.change(source_id, one_more) for _ in range(20)))

    feed = await records.feeds.get(source_id)
    assert feed is not None
    assert feed.errors == 20


async def test_a_due_feed_is_claimed_once(records: Records, clock: FakeClock) -> None:
    sources = [await source(records, f"s{n}") for n in range(5)]

    got = await asyncio.gather(*(due(records, limit=2) for _ in range(5)))

    assert sorted(source_id for some in got for source_id in some) == sources
    assert await due(records) == []
    clock.advance(HOLD / 1000)
    assert await due(records) == sources, "the process that claimed the feeds was lost"


async def test_only_active_feeds_of_enabled_sources_are_due(records: Records, clock: FakeClock, peek: Peek) -> None:
    wanted = await source(records, "wanted")
    unwanted, off, resting, later, unknown = [
        await source(records, name, None if name == "unknown" else "/feed")
        for name in ("unwanted", "off", "resting", "later", "unknown")
    ]
    await records.feeds.change(unwanted, lambda feed, _now: FeedRow(feed.source_id, feed.url, active=False))
    await peek.rows(f"UPDATE sources SET enabled = FALSE WHERE id = {off}")
    await records.feeds.change(resting, partial(disabled, reason="upstream_failure"))
    await records.feeds.change(later, lambda feed, now: FeedRow(feed.source_id, feed.url, due_at=now + 1))
    assert [feed.source_id for feed in await records.feeds.find(active=True)] == [wanted, later]

    assert await due(records) == [wanted]
    assert await due(records, searching=True) == [unknown]

    clock.advance(6 * 3600)
    active = [feed.source_id for feed in await records.feeds.find(active=True)]
    assert active == [wanted, resting, later], "a disabled feed is tried again"
    assert [feed.source_id for feed in await records.feeds.find(active=False)] == [unwanted, off, unknown]
    assert await due(records) == [wanted, resting, later]


async def test_feeds_are_found_page_by_page(records: Records) -> None:
    sources = [await source(records, f"s{n}") for n in range(5)]

    first = await records.feeds.find(limit=2)
    rest = await records.feeds.find(limit=10, after=first[-1].source_id)

    assert [feed.source_id for feed in first + rest] == sources


async def test_a_poll_is_answered_at_the_end_of_its_run(records: Records, clock: FakeClock) -> None:
    source_id = await source(records, "a")
    run = await running_run(records)
    await admit(records, url(run))
    await records.feeds.change(source_id, partial(asked, run_id=run.id, stage="poll"))
    clock.advance(HOLD)

    assert await answered(records) == []
    assert await due(records) == [], "its run has not ended"

    (lease,) = (await claim(records)).values()
    await report(records, host_report(lease, [ended(lease.tasks[0])]))

    assert await answered(records) == [source_id]
    assert await answered(records, searching=True) == []
    told = await records.feeds.change(source_id, partial(succeeded, run_id=run.id, seen=Seen()))
    assert told is not None
    assert await answered(records) == []


async def test_a_deleted_run_answers_its_poll_too(records: Records) -> None:
    source_id = await source(records, "a")
    await records.feeds.change(source_id, partial(asked, run_id=12345, stage="poll"))

    assert await answered(records) == [source_id]
    assert await records.feeds.change(source_id, partial(dropped, run_id=12345)) is not None


async def test_a_disabled_feed_is_shown_in_the_row_of_its_source(records: Records, clock: FakeClock) -> None:
    source_id = await source(records, "a")
    before = await records.sources.get(source_id)
    assert before is not None
    clock.advance(1)
    assert await records.feeds.change(source_id, partial(asked, run_id=3, stage="poll")) is not None
    assert await records.sources.get(source_id) == before, "a poll in progress is no change of the source"

    await records.feeds.change(source_id, partial(disabled, reason="gone"))

    told = await records.sources.get(source_id)
    assert told is not None
    assert (told.feed_disabled_at, told.feed_disable_reason, told.updated_at) == (clock.now(), "gone", clock.now())


async def test_another_url_begins_a_new_feed(records: Records, clock: FakeClock) -> None:
    source_id = await source(records, "a")
    await records.feeds.change(source_id, partial(asked, run_id=3, stage="poll"))
    await records.feeds.change(source_id, partial(failed, run_id=3, kind="gone", error="why"))
    row = await records.sources.get(source_id)
    assert row is not None
    same = await records.sources.change(msgspec.structs.replace(row, name="b", feed_wanted=False, feed_every_ms=7))
    assert same is not None
    feed = await records.feeds.get(source_id)
    assert feed is not None
    assert (feed.errors, feed.active, feed.every_ms, feed.disabled_reason) == (1, False, 7, "gone")

    other = await records.sources.change(msgspec.structs.replace(same, feed_url="https://b.example/"))

    assert other is not None
    assert (other.feed_disabled_at, other.feed_disable_reason) == (None, None)
    wanted = FeedRow(source_id, "https://b.example/", False, 7, due_at=clock.now())
    assert await records.feeds.get(source_id) == wanted
    late = partial(succeeded, run_id=3, seen=Seen(etag="of another"))
    assert await records.feeds.change(source_id, late) is None, "the answer is about the former feed"
