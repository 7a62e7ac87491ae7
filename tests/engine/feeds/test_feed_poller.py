"""Polls of feeds on both engines, with hand-made responses."""

import asyncio
import dataclasses
import logging

import pytest

from longline.engine.feeds.feed_poller import FeedPoller, side_by_side
from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.errors import Unavailable
from longline.model.feeds.feed_poll import ENTRY_PRIORITY, POLL_INTERVAL_MS, FeedRow
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.plugins import Page
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.web import MISSING, HandMadeWeb, Said, rss

FEED = "https://a.example/feed"


@pytest.fixture
def web(records: Records) -> HandMadeWeb:
    return HandMadeWeb(records)


@pytest.fixture
def feeder(web: HandMadeWeb) -> FeedPoller:
    return FeedPoller(web.parts)


@pytest.fixture
async def source_id(web: HandMadeWeb) -> int:
    return await with_feed(web, "a")


async def with_feed(web: HandMadeWeb, name: str) -> int:
    """Add a source with a feed."""
    return await web.source(name, feed_url=f"https://{name}.example/feed")


async def polled(web: HandMadeWeb, source_id: int) -> FeedRow:
    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    return feed


async def poll(web: HandMadeWeb, feeder: FeedPoller, source_id: int) -> FeedRow:
    """Poll due feeds, and return this feed."""
    await feeder.once()
    await web.answer()
    await feeder.once()
    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    return feed


async def poll_again(web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock) -> FeedRow:
    """Poll a feed when it is due the next time."""
    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    clock.advance(max(0, feed.due_at - clock.now()) / 1000)
    return await poll(web, feeder, source_id)


async def test_new_entries_become_tasks(web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock) -> None:
    web.says[FEED] = rss("https://a.example/1", "/2", "not a url", "https://b.example/3?utm_source=feed", "mailto:x")

    feed = await poll(web, feeder, source_id)

    assert (feed.entries, feed.errors, feed.polled_at, feed.run_id) == (4, 0, clock.now(), None)
    assert feed.due_at == clock.now() + POLL_INTERVAL_MS
    wanted = ["https://a.example/1", "https://a.example/2", "https://b.example/3?utm_source=feed"]
    assert await web.urls("frontier.feed") == dict.fromkeys(
        [*wanted, "https://a.example/not%20a%20url"], ENTRY_PRIORITY
    )
    assert ENTRY_PRIORITY < DEFAULT_PRIORITY


async def test_entries_of_an_earlier_poll_are_not_requested_again(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    web.says[FEED] = rss("https://a.example/1", "http://a.example/2?utm_medium=rss")
    await poll(web, feeder, source_id)
    await web.answer()
    web.says[FEED] = rss("https://a.example/3", "https://a.example/2", "https://a.example/1/#top")

    await poll_again(web, feeder, source_id, clock)
    await web.answer()
    await poll_again(web, feeder, source_id, clock)
    await web.answer()

    assert sorted(url for url in web.asked if url != FEED) == [
        "http://a.example/2?utm_medium=rss",
        "https://a.example/1",
        "https://a.example/3",
    ]
    assert web.asked.count(FEED) == 3
    runs = await web.records.runs.find(limit=100)
    assert sorted((run.kind, run.state) for run in runs) == [("frontier.feed", "queued")] + [("poll", "completed")] * 3
    assert {run.source_id for run in runs} == {source_id}


async def test_a_feed_is_not_polled_before_it_is_due(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    web.says[FEED] = rss("https://a.example/1")
    await poll(web, feeder, source_id)
    clock.advance(POLL_INTERVAL_MS / 1000 - 1)

    assert await feeder.once() == 0

    clock.advance(1)
    assert await feeder.once() == 1
    assert await feeder.once() == 0, "the poll is under way"


async def test_not_modified_is_a_success(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    web.says[FEED] = rss("https://a.example/1", "https://a.example/2")
    await poll(web, feeder, source_id)
    web.says[FEED] = Said(500)
    assert (await poll_again(web, feeder, source_id, clock)).errors == 1
    web.says[FEED] = Said(304)

    feed = await poll_again(web, feeder, source_id, clock)

    assert (feed.errors, feed.error, feed.error_type, feed.entries) == (0, None, None, 2)
    assert feed.polled_at == clock.now()


async def test_the_third_missing_poll_disables_and_a_later_success_enables(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    web.says[FEED] = MISSING
    for errors in (1, 2):
        feed = await poll_again(web, feeder, source_id, clock)
        assert (feed.errors, feed.disabled_at) == (errors, None)
    feed = await poll_again(web, feeder, source_id, clock)
    assert (feed.disabled_reason, feed.due_at) == ("not_found", clock.now() + 48 * HOUR_MS)
    assert (feed.error_type, feed.error) == ("not_found", "it said 404")

    polls = len(web.asked)
    clock.advance(47 * 3600)
    assert (await poll(web, feeder, source_id)).disabled_at is not None
    assert len(web.asked) == polls, "a disabled feed is not polled"

    trial = await poll_again(web, feeder, source_id, clock)
    assert (len(web.asked), trial.errors, trial.disabled_at) == (polls + 1, 4, clock.now())
    web.says[FEED] = rss("https://a.example/1")
    feed = await poll_again(web, feeder, source_id, clock)
    assert (feed.disabled_at, feed.disabled_reason, feed.errors) == (None, None, 0)


async def test_the_pause_after_429_doubles_up_to_its_bound(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    web.says[FEED] = Said(429)
    waits = []
    for _ in range(9):
        feed = await poll_again(web, feeder, source_id, clock)
        waits.append(((feed.next_poll_at or 0) - clock.now()) // MINUTE_MS)

    assert waits == [5, 10, 20, 40, 80, 160, 320, 480, 480]
    assert (feed.error_type, feed.disabled_at) == ("rate_limited", None)
    assert web.asked == [FEED] * 9, "a poll is one request, and is not repeated within its run"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (Said(403), "forbidden"),
        (Said(410), "gone"),
        (Said(503), "upstream_failure"),
        (Said(418), "unexpected"),
        (Said(None, reason="dns"), "network"),
        (Said(None, reason="robots"), "forbidden"),
        (Said(reason="parser_error"), "parse_error"),
        (Said(body=b"<html><body>we have moved</body></html>"), "parse_error"),
    ],
)
async def test_failures_have_a_kind(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, said: Said, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    web.says[FEED] = said

    feed = await poll(web, feeder, source_id)

    assert (feed.error_type, feed.errors) == (kind, 1)
    (line,) = [record for record in caplog.records if record.name.endswith("feed_poller")]
    assert line.levelno == (logging.ERROR if kind == "unexpected" else logging.WARNING)


async def test_a_redirected_feed_is_read_at_its_new_url(web: HandMadeWeb, feeder: FeedPoller, source_id: int) -> None:
    await feeder.once()
    (run,) = await web.records.runs.find()
    web.says[FEED] = Said(302, reason="redirected")
    web.says["https://b.example/feed"] = rss("https://a.example/1")
    elsewhere, host = seed("https://b.example/feed", run.id, web.parts.plan)
    await Lifecycle(web.records).admit([elsewhere], [host])  # as the worker's report does

    await web.answer()
    await feeder.once()

    assert await web.urls("frontier.feed") == {"https://a.example/1": ENTRY_PRIORITY}


async def test_a_cancelled_poll_is_no_failure(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int, clock: FakeClock
) -> None:
    await feeder.once()
    (run,) = await web.records.runs.find()
    await Lifecycle(web.records).move(MoveRequest("run", run.id, "cancel", "person"))

    await feeder.once()

    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    assert (feed.run_id, feed.errors, feed.due_at) == (None, 0, clock.now() + POLL_INTERVAL_MS)


async def test_a_failing_feed_does_not_stop_the_others(
    web: HandMadeWeb, feeder: FeedPoller, caplog: pytest.LogCaptureFixture
) -> None:
    broken, fine = [await with_feed(web, name) for name in ("broken", "fine")]
    web.says["https://fine.example/feed"] = rss("https://fine.example/1")
    await web.records.feeds.change(broken, lambda feed, _now: FeedRow(feed.source_id, "no url at all"))

    feed = await poll(web, feeder, fine)

    assert feed.entries == 1
    assert "unexpected error" in caplog.text


async def test_a_poll_read_by_several_processes_adds_its_entries_once(
    web: HandMadeWeb, feeder: FeedPoller, source_id: int
) -> None:
    web.says[FEED] = rss("https://a.example/1", "https://a.example/2")
    await feeder.once()
    await web.answer()

    await asyncio.gather(*(FeedPoller(web.parts).once() for _ in range(4)))
    await web.answer()

    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    assert (feed.entries, feed.run_id) == (2, None)
    assert sorted(web.asked) == ["https://a.example/1", "https://a.example/2", FEED]
    assert {run.kind for run in await web.records.runs.find()} == {"frontier.feed", "poll"}


@pytest.mark.slow(reason="thousands of feeds")
async def test_hundreds_of_feeds_are_polled(web: HandMadeWeb, feeder: FeedPoller) -> None:
    for number in range(250):
        await with_feed(web, f"s{number}")
        web.says[f"https://s{number}.example/feed"] = rss(f"https://s{number}.example/1")

    while await feeder.once():
        await web.answer()

    assert len([url for url in web.asked if url.endswith("/feed")]) == 250
    assert len([url for url in web.asked if url.endswith("/1")]) == 250
    feeds = await web.records.feeds.find(limit=500)
    assert {(feed.entries, feed.errors, feed.run_id) for feed in feeds} == {(1, 0, None)}


async def test_a_slow_feed_does_not_delay_the_others(web: HandMadeWeb, clock: FakeClock) -> None:
    bad, good = await with_feed(web, "bad"), [await with_feed(web, name) for name in ("one", "two", "three")]
    let_go, usual = asyncio.Event(), web.parts.read

    async def read(page: Page) -> list[str]:
        if "bad" in page.url:
            await let_go.wait()
        return await usual(page)

    feeder = FeedPoller(dataclasses.replace(web.parts, read=read))
    for name in ("bad", "one", "two", "three"):
        web.says[f"https://{name}.example/feed"] = rss(f"https://{name}.example/1")
    await feeder.begin()
    await web.answer()
    taking = asyncio.create_task(feeder.take())

    async with asyncio.timeout(30):
        while [(await polled(web, source_id)).polled_at for source_id in good].count(None):  # noqa: ASYNC110 - in the database
            await asyncio.sleep(0.01)
    assert (await polled(web, bad)).polled_at is None
    let_go.set()
    assert await taking == 4
    assert (await polled(web, bad)).polled_at is not None


async def test_an_unavailable_database_is_raised_after_all_parts_have_ended() -> None:
    done = []

    async def part(number: int) -> None:
        await asyncio.sleep(0)
        if number == 0:
            raise Unavailable("no database")
        done.append(number)

    with pytest.raises(Unavailable):
        await side_by_side([part(number) for number in range(5)], at_once=2)
    assert done == [1, 2, 3, 4]
