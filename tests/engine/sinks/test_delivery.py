"""Delivery to sinks that fail, lag and are taken over."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest

from longline.drivers.records import open_records
from longline.engine.sinks import delivery as module
from longline.engine.sinks.delivery import AddressedSink, SinkAssignment, SinkDelivery, delivery_loop
from longline.model.sinks.sink import MAX_REFUSALS, MAX_RETRY_MS, SinkAddress, SinkItem
from longline.ports.records import Records
from longline.ports.sinks import SinkFailed
from longline.testing.clock import FakeClock
from tests.drivers.records.world import running_run, visit


class Receiver:
    """A sink that keeps all items; it fails with the given errors, and refuses the given items."""

    def __init__(self, batch_size: int = 2) -> None:
        self.batch_size, self.items = batch_size, list[SinkItem]()
        self.failures = list[SinkFailed]()
        self.refused = set[tuple[int, int]]()
        self.calls = 0
        self.held: asyncio.Event | None = None
        self.full = asyncio.Event()

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        self.calls += 1
        if self.held:
            await self.held.wait()
        for before, item in enumerate(items):
            if (item.run, item.position) in self.refused:
                self.items += items[:before]
                raise SinkFailed("no such price", before, refused=True)
        failure = self.failures.pop(0) if self.failures else None
        self.items += items[: failure.delivered] if failure else items
        if len(self.items) == 3:
            self.full.set()
        if failure:
            raise failure

    async def close(self) -> None:
        """Do nothing: no connection is open."""


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


async def test_items_arrive_in_the_order_of_their_runs_and_a_long_run_delays_no_other(records: Records):
    long, short = await with_items(records, 5), await with_items(records, 1)
    sink = Receiver()
    assert await delivery(records, sink).once() == 6
    assert places(sink) == [(long, 1), (long, 2), (short, 1), (long, 3), (long, 4), (long, 5)]
    assert sink.items[0].fields == {"title": "T0", "price": 0, "url": "https://a.example/0"}
    assert len({item.id for item in sink.items}) == 6
    assert await delivery(records, sink).once() == 0


async def test_a_delivery_for_one_run_sends_the_items_of_that_run_alone(records: Records):
    await with_items(records, 1)
    second = await with_items(records, 3)
    sink = Receiver()
    sending = delivery(records, sink)
    await sending.open(second)
    assert await sending.waiting() == 3
    assert await sending.once() == 3
    assert {item.run for item in sink.items} == {second}
    assert (await sending.waiting(), await sending.once()) == (0, 0)


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


@pytest.mark.parametrize("seconds", [float("inf"), 1e308])
async def test_a_very_long_retry_after_is_cut_to_the_longest_wait(records: Records, clock: FakeClock, seconds: float):
    await with_items(records, 1)
    sink = Receiver()
    sink.failures = [SinkFailed("away", retry_after_seconds=seconds)]
    sending = delivery(records, sink)
    await sending.once()
    clock.advance(MAX_RETRY_MS / 1000 - 1)
    await sending.once()
    assert sink.calls == 1
    clock.advance(2)
    await sending.once()
    assert len(sink.items) == 1


async def test_an_item_that_was_sent_before_a_kill_is_repeated_with_its_id(
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


async def test_a_delivery_stops_if_its_lease_is_lost(
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


async def test_a_sink_that_is_down_delays_no_other(records: Records, clock: FakeClock):
    away, there = Receiver(), Receiver()
    away.held = asyncio.Event()
    both = [delivery(records, away), delivery(records, there, "b")]
    for one in both:
        await one.open()
    stop = asyncio.Event()
    loop = asyncio.create_task(delivery_loop(both, SinkAssignment(both, records.sink_runs, clock))(stop))
    await with_items(records, 3)
    async with asyncio.timeout(5):
        await there.full.wait()
        stop.set()
        await loop
    assert away.items == []


async def test_a_refused_item_holds_its_run_and_no_other(records: Records, clock: FakeClock):
    first, second = await with_items(records, 3), await with_items(records, 3)
    sink = Receiver()
    sink.refused = {(first, 2)}
    sending = delivery(records, sink)
    assert await sending.once() == 4
    assert places(sink) == [(first, 1), (second, 1), (second, 2), (second, 3)]
    (lag,) = await records.sink_progress.lags()
    assert (lag.failures, lag.held_runs, lag.waiting) == (0, 1, 2)
    attempts = [0]
    for second_of_time in range(1, 16):
        clock.advance(1)
        before = sink.calls
        await sending.once()
        attempts += [second_of_time] if sink.calls > before else []
    assert sending.problem == "no such price"
    assert attempts == [0, 1, 3, 7, 15], "each further attempt waits longer"
    sink.refused = set()
    await records.sink_progress.retry(lag.id)
    assert await sending.once() == 2
    assert [place for place in places(sink) if place[0] == first] == [(first, 1), (first, 2), (first, 3)]
    assert sending.problem == ""


async def test_a_sink_that_refuses_everything_is_not_tried_for_every_run(records: Records):
    runs = [await with_items(records, 1) for _ in range(MAX_REFUSALS + 3)]
    sink = Receiver()
    sink.refused = {(run, 1) for run in runs}
    assert await delivery(records, sink).once() == 0
    assert sink.calls == MAX_REFUSALS
    assert (await records.sink_progress.lags())[0].failures == 1


async def test_the_error_of_a_driver_contains_no_secret(records: Records, caplog: pytest.LogCaptureFixture):
    await with_items(records, 1)

    class Broken(Receiver):
        async def deliver(self, items: Sequence[SinkItem]) -> None:
            assert items
            raise KeyError("x://me:canary-password@a/?key=canary-key")

    address = SinkAddress.parse("x://me:canary-password@a/?key=canary-key#canary-secret")
    broken = SinkDelivery(AddressedSink(address, Broken()), records.sinks, records.items, 1)
    with caplog.at_level("INFO"):
        assert await broken.once() == 0
    (lag,) = await records.sink_progress.lags()
    assert lag.error == "KeyError: 'x://a/'"
    assert [vars(record)["error"] for record in caplog.records] == ["KeyError: 'x://a/'"]
    assert "canary" not in repr([vars(record) for record in caplog.records])


async def test_an_idle_platform_writes_one_heartbeat_of_a_sink_each_minute(records: Records, clock: FakeClock):
    sink = Receiver()
    idle = delivery(records, sink)
    assignment = SinkAssignment([idle], records.sink_runs, clock)
    await with_items(records, 1)
    await assignment.once()
    assert await idle.once() == 1
    database = cast(Any, records.sinks)._database
    written = list[object]()
    transact = database.transact

    async def counted(work: Any) -> Any:
        written.append(work)
        return await transact(work)

    database.transact = counted
    for _ in range(125):
        await assignment.once()
        await idle.once()
        clock.advance(0.5)
    assert len(written) == 1
    assert (await records.sink_progress.lags())[0].unseen_ms < 2500
