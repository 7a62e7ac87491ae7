import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from longline.model.errors import Unavailable
from longline.ports.records import Records
from longline.ports.sources import Delivery
from longline.services.sources.source_events import MAX_DELIVERIES, SourceEvent, SourceListener


class Messages:
    """A queue that delivers all messages that are not settled."""

    def __init__(self) -> None:
        self.lying: dict[str, Delivery] = {}
        self.parked: list[str] = []

    def say(self, number: int, kind: str = "SOURCE_CREATED", event_id: str = "e1", **facts: Any) -> None:
        body = json.dumps({"event_id": event_id, "event_type": kind, "source_id": "s", "payload": {}} | facts)
        self.lying[str(number)] = Delivery(str(number), body.encode())

    async def receive(self) -> Sequence[Delivery]:
        found = list(self.lying.values())
        for one in found:
            self.lying[one.id] = Delivery(one.id, one.body, one.times + 1)
        return found

    async def acknowledge(self, ids: Sequence[str]) -> None:
        for one in ids:
            self.lying.pop(one, None)

    async def park(self, delivery: Delivery, why: str) -> None:
        self.parked.append(why)
        del self.lying[delivery.id]

    async def close(self) -> None:
        pass


class Effects:
    """An effect that keeps its events, and fails at first with the given errors."""

    def __init__(self, *failures: Exception) -> None:
        self.done: list[SourceEvent] = []
        self.failures = list(failures)

    async def __call__(self, event: SourceEvent) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.done.append(event)


def listener(messages: Messages, records: Records, effects: Effects) -> SourceListener:
    return SourceListener(messages, records.handled_messages, {"SOURCE_CREATED": effects})


async def test_the_same_event_twice_has_one_effect(records: Records):
    messages, effects = Messages(), Effects()
    mine = listener(messages, records, effects)
    messages.say(1, payload={"name": "n"})
    messages.say(2)
    await mine.once()
    messages.say(3)
    await listener(messages, records, effects).once()
    assert [(event.event_id, event.payload) for event in effects.done] == [("e1", {"name": "n"})]
    assert messages.lying == {}


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"[" * 100_000, None),
        b'{"event_id":1,"event_type":"SOURCE_CREATED","source_id":"s"}',
        b'{"event_id":"","event_type":"SOURCE_CREATED","source_id":"s"}',
        b'{"event_id":"e","event_type":"SOURCE_CREATED","source_id":"a\\u0000b"}',
        b'{"event_id":"e","event_type":"SOURCE_CREATED","source_id":"\xff"}',
        b'{"event_id":"e","event_type":"SOURCE_CREATED","source_id":"%s"}' % (b"x" * 501),
    ],
)
async def test_a_message_that_cannot_be_decoded_is_dropped(records: Records, body: bytes | None):
    messages, effects = Messages(), Effects()
    messages.lying["1"] = Delivery("1", body)
    messages.say(2, kind="SOMETHING_ELSE")
    await listener(messages, records, effects).once()
    assert (messages.lying, effects.done) == ({}, [])


async def test_a_message_with_an_invalid_payload_is_dropped_too(records: Records):
    messages, effects = Messages(), Effects(msgspec.ValidationError("no url"))
    messages.say(1)
    await listener(messages, records, effects).once()
    assert (messages.lying, messages.parked, effects.done) == ({}, [], [])


async def test_a_failed_event_is_repeated_and_finally_parked(records: Records):
    messages, effects = Messages(), Effects(*(ValueError("no") for _ in range(2)))
    mine = listener(messages, records, effects)
    messages.say(1)
    for _ in range(3):
        await mine.once()
    assert (len(effects.done), messages.lying) == (1, {})
    effects.failures = [ValueError("never") for _ in range(99)]
    messages.say(2, event_id="e2")
    for _ in range(MAX_DELIVERIES):
        assert messages.parked == []
        await mine.once()
    assert (messages.parked, messages.lying) == (["ValueError('never')"], {})


async def test_an_engine_that_is_down_costs_no_attempt(records: Records):
    messages, effects = Messages(), Effects(Unavailable("away"))
    mine = listener(messages, records, effects)
    messages.say(1)
    with pytest.raises(Unavailable):
        await mine.once()
    await mine.once()
    assert (len(effects.done), messages.parked) == (1, [])


async def test_ids_are_deleted_after_a_week(records: Records, clock):
    messages, effects = Messages(), Effects()
    mine = listener(messages, records, effects)
    messages.say(1)
    await mine.once()
    clock.advance(7 * 86_400.0)
    await mine.forget()
    messages.say(2)
    await mine.once()
    assert len(effects.done) == 2
