"""Sources as a service."""

import msgspec
import pytest

from longline.model.errors import Conflict, NotFound
from longline.model.sources.source import NewSource, SourceQuery
from longline.ports.records import Records
from longline.services.sources.sources import Sources
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture
def sources(records: Records, clock: FakeClock) -> Sources:
    return Sources(records.sources, records.feeds, clock)


async def test_names_are_taken_once(sources: Sources):
    first = await sources.make(NewSource("a", "https://a.example/"))
    other = await sources.make(NewSource("b", "https://b.example/"))
    with pytest.raises(Conflict):
        await sources.make(NewSource("a", "https://c.example/"))
    with pytest.raises(Conflict):
        await sources.change(other.id, lambda row: msgspec.structs.replace(row, name="a"))
    assert (await sources.get(first.id)).base_url == "https://a.example/"


async def test_what_is_switched_off_says_since_when_and_why(sources: Sources, clock: FakeClock):
    row = await sources.make(NewSource("a", "https://a.example/", feed_url="https://a.example/feed"))
    off = await sources.switch(row.id, False, "broken")
    assert (off.enabled, off.disabled_at, off.disable_reason) == (False, clock.now(), "broken")
    silent = await sources.switch_feed(row.id, False, "gone")
    assert (silent.feed_disabled_at, silent.feed_disable_reason) == (clock.now(), "gone")
    assert await sources.find(SourceQuery(feed_active=True), 10, 0) == ([], 0)
    back = await sources.switch_feed(row.id, True)
    assert (back.feed_disabled_at, back.feed_disable_reason) == (None, None)
    assert (await sources.find(SourceQuery(feed_active=True), 10, 0))[1] == 1
    assert (await sources.find(SourceQuery(enabled=True), 10, 0))[1] == 0
    with pytest.raises(NotFound):
        await sources.switch(1, True)
    with pytest.raises(NotFound):
        await sources.remove(1)
