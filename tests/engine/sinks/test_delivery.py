"""Delivery to sinks that fail, lag and are taken over."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from longline.drivers.records import open_records
from longline.engine.sinks import delivery as module
from longline.engine.sinks.delivery import AddressedSink, SinkDelivery, delivery_loop
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.ports.records import Records
from longline.ports.sinks import SinkFailed
from longline.testing.clock import FakeClock
from tests.drivers.records.world import running_run, visit


class Receiver:
    """Keeps all items; fails as often as a test says, after so many items."""

    def __init__(self, batch_size: int = 2) -> None:
        self.batch_size, self.items = batch_size, list[SinkItem]()
        self.failures = list[SinkFailed]()
        self.held: asyncio.Event | None = None
        self.full = asyncio.Event()

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        if self.held:
            await self.held.wait()
        failure = self.failures.pop(0) if self.failures else None
        self.items += items[: failure.delivered] if failure else items
        if len(self.items) == 3:
            self.full.set()
        if failure:
            raise failure

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def records(migrated_file: str, clock: FakeClock) -> AsyncIterator[Records]:
    opened = await open_records(migrated_file, clock)
    yield opened
    await opened.schema.close()


async def with_items(records: Records, count: int) -> int:
    run = await running_run(records)
    made = [("book", {"title": f"T{n}", "price": n, "url": f"https://a.example/{n}"}) for n in range(count)]
    await visit(records, run, {"/": [*made, ("extraction", {"words": 1})]})
    return run.id


def delivery(records: Records, sink: Receiver, host: str = "a", owner: int = 1) -> SinkDelivery:
    return SinkDelivery(AddressedSink(SinkAddress.parse(f"x://{host}"), sink), records.sinks, records.items, owner)


def places(sink: Receiver) -> list[tuple[int, int]]:
    return [(item.run, item.position) for item in sink.items]


async def test_items_come_in_the_order_of_their_runs_and_no_run_waits_for_a_long_one(records: Records):
    long, short = await with_items(records, 5), await with_items(records, 1)
    sink = Receiver()
    assert await delivery(records, sink).once() == 6
    assert places(sink) == [(long, 1), (long, 2), (short, 1), (long, 3), (long, 4), (long, 5)]
    assert sink.items[0].fields == {"title": "T0", "price": 0, "url": "https://a.example/0"}
    assert len({item.id for item in sink.items}) == 6
    assert await delivery(records, sink).once() == 0


async def test_one_run_alone_is_delivered_where_a_crawl_asks_for_it(records: Records):
    first, second = await with_items(records, 1), await with_items(records, 3)
    sink = Receiver()
    sending = delivery(records, sink)
    assert await sending.waiting(second) == 3
    assert await sending.once(second) == 3
    assert {item.run for item in sink.items} == {second}
    assert (await sending.waiting(first), await sending.waiting(second)) == (1, 0)


async def test_after_a_failure_the_rest_is_sent_and_each_further_attempt_waits_longer(
    records: Records, clock: FakeClock
):
    await with_items(records, 4)
    sink = Receiver(batch_size=3)
    sink.failures = [SinkFailed("away", 2), SinkFailed("away"), SinkFailed("away", retry_after_seconds=9)]
    sending, begun, calls = delivery(records, sink), clock.now(), list[int]()
    for second in range(20):
        left = len(sink.failures)
        await sending.once()
        if len(sink.failures) < left:
            calls.append(second)
        clock.advance(1)
    assert clock.now() > begun
    assert calls == [0, 1, 3]
    assert [place for _, place in places(sink)] == [1, 2, 3, 4]


async def test_an_item_that_was_sent_before_a_kill_comes_again_with_its_id(
    records: Records, monkeypatch: pytest.MonkeyPatch
):
    await with_items(records, 2)
    sink = Receiver()
    sending = delivery(records, sink)

    async def killed(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(type(records.sinks), "advance", killed)
    with pytest.raises(asyncio.CancelledError):
        await sending.once()
    monkeypatch.undo()
    assert await delivery(records, sink).once() == 2
    ids = [item.id for item in sink.items]
    assert ids[:2] == ids[2:]


async def test_a_delivery_whose_lease_is_lost_stops(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    await with_items(records, 2)
    monkeypatch.setattr(module, "RENEW_INTERVAL_SECONDS", 0.01)
    sink, other = Receiver(), Receiver()
    sink.held = asyncio.Event()
    stuck = asyncio.create_task(delivery(records, sink).once())
    await asyncio.sleep(0.05)
    assert await delivery(records, other, owner=2).once() == 2  # the process of the first owner is not registered
    assert await asyncio.wait_for(stuck, 5) == 0
    assert sink.items == []


async def test_a_sink_that_is_away_holds_back_no_other(records: Records):
    await with_items(records, 3)
    away, there = Receiver(), Receiver()
    away.held = asyncio.Event()
    stop = asyncio.Event()
    loop = asyncio.create_task(delivery_loop([delivery(records, away), delivery(records, there, "b")])(stop))
    async with asyncio.timeout(5):
        await there.full.wait()
        stop.set()
        await loop
    assert away.items == []
