"""What one may ask of feeds."""

import pytest

from longline.model.errors import BadInput, NotFound
from longline.model.poll import FeedRow
from longline.model.source import NewSource
from longline.ports.records import Records
from longline.services.feeds import Feeds
from longline.testing.clock import START
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture
def feeds(records: Records) -> Feeds:
    return Feeds(records.feeds)


@pytest.fixture
async def source_id(records: Records) -> int:
    return (await records.sources.add(NewSource("news", "https://news.example/"))).id


async def test_a_feed_is_put_where_it_is(feeds: Feeds, source_id: int) -> None:
    with pytest.raises(NotFound, match="no feed"):
        await feeds.get(source_id)

    await feeds.put(source_id, "HTTPS://News.example/feed", every_ms=60_000)

    wanted = FeedRow(source_id, "https://news.example/feed", every_ms=60_000, due_at=START)
    assert await feeds.get(source_id) == wanted
    assert await feeds.find(active=True, limit=10_000) == [wanted]
    assert await feeds.find(active=False) == []


@pytest.mark.parametrize(("url", "every_ms"), [("no url", 1), ("ftp://a.example/", 1), ("https://a.example/", 0)])
async def test_what_cannot_be_is_refused(feeds: Feeds, source_id: int, url: str, every_ms: int) -> None:
    with pytest.raises(BadInput):
        await feeds.put(source_id, url, every_ms=every_ms)


async def test_off_and_on(feeds: Feeds, source_id: int) -> None:
    for change in (feeds.disable(source_id, "gone"), feeds.enable(source_id)):
        with pytest.raises(NotFound):
            await change
    await feeds.put(source_id, "https://news.example/feed")

    await feeds.disable(source_id, "gone")
    assert (await feeds.get(source_id)).disabled_reason == "gone"
    assert await feeds.find(active=True) == []

    await feeds.enable(source_id)
    assert (await feeds.get(source_id)).disabled_at is None
