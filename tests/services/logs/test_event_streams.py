from typing import Any

import pytest

from longline.model.errors import Unavailable
from longline.model.logs.event import Event
from longline.model.runs.run import RunRow
from longline.services.health import Check, Health
from longline.services.logs.event_streams import (
    Broker,
    ClientLimit,
    Counted,
    CountPublisher,
    EngineHealth,
    HealthPublisher,
    MovePublisher,
    RunAdvanced,
    RunEnded,
    ScheduleMoved,
    Subscription,
)
from longline.testing.clock import START, FakeClock


def figure(value: int) -> Counted:
    return Counted("n", value, START)


async def heard(client: Subscription, amount: int) -> list[Any]:
    return [await anext(client) for _ in range(amount)]


async def test_every_client_gets_all_events_of_its_topic():
    broker = Broker()
    early, other = broker.join("metrics"), broker.join("health")
    broker.publish("metrics", figure(1))
    late = broker.join("metrics")
    broker.publish("metrics", figure(2))
    broker.close()
    assert [one.value async for one in early if isinstance(one, Counted)] == [1, 2]
    assert [one.value async for one in late if isinstance(one, Counted)] == [2]
    assert [one async for one in other] == []
    assert [one async for one in broker.join("metrics")] == [], "the broker is closed"


async def test_a_slow_client_is_disconnected_and_other_clients_are_not():
    broker = Broker(most_waiting=3)
    slow, quick = broker.join("metrics"), broker.join("metrics")
    for value in range(10):
        broker.publish("metrics", figure(value))
        assert (await anext(quick)) == figure(value)
    assert (slow.lost.is_set(), quick.lost.is_set()) == (True, False)
    broker.unsubscribe("metrics", quick)
    assert not broker.has_clients("metrics"), "the slow client is disconnected already"


def test_the_number_of_clients_is_limited():
    seats = ClientLimit(max_clients=2)
    assert [seats.take() for _ in range(3)] == [True, True, False]
    seats.release()
    assert seats.take()


class Past:
    """Events, schedules and runs that a test adds."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.pages = 0
        self.away = False

    def add(self, noun: str, move: str, became: str | None, at: int = START, reason: str | None = None) -> None:
        number = len(self.events) + 1
        self.events.append(Event(number, at, noun, 7, move, None, became, "worker", reason, None))

    async def find(self, *, after: int, listed: bool) -> list[Event]:
        assert not listed
        if self.away:
            raise Unavailable("away")
        return [event for event in self.events if event.id > after][:2]

    async def newest(self) -> int:
        return len(self.events)

    async def items(self, _: int) -> int:
        return self.pages // 2


class Schedules:
    """A schedule in the state of the newest event."""

    def __init__(self, past: Any) -> None:
        self._past = past

    async def get(self, _: int) -> Any:
        class Row:
            uid, next_due, error = "schedule", 5, None
            state = next((event.became for event in reversed(self._past.events) if event.noun == "schedule"), None)

        return Row


class Runs:
    def __init__(self, past: Past, schedule_id: int | None = 3) -> None:
        self._past, self._schedule_id = past, schedule_id

    async def get(self, run_id: int) -> RunRow:
        facts: dict[str, Any] = dict.fromkeys(RunRow.__struct_fields__)
        facts |= {"id": run_id, "uid": "run", "schedule_id": self._schedule_id, "completed": self._past.pages}
        return RunRow(**facts | {"started_at": START, "ended_at": START + 9, "error": None})


def teller(broker: Broker, past: Any, clock: FakeClock, schedule_id: int | None = 3) -> MovePublisher:
    runs: Any = Runs(past, schedule_id)
    schedules: Any = Schedules(past)
    return MovePublisher(broker, past, schedules, runs, past, clock)


async def test_events_before_the_first_client_are_not_published(clock: FakeClock):
    broker, past = Broker(), Past()
    telling = teller(broker, past, clock)
    past.add("schedule", "cancel", "cancelled")
    await telling.once()
    client = broker.join("crawler")
    await telling.once()
    for became in ("scheduled", "running", "failed"):
        past.add("schedule", "x", became)
    past.add("task", "cancel", "cancelled")
    await telling.once()
    assert await heard(client, 3) == [
        ScheduleMoved("schedule", "scheduled", None, START),
        ScheduleMoved("schedule", "running", None, START),
        ScheduleMoved("schedule", "failed", 5, START),
    ]
    broker.unsubscribe("crawler", client)
    await telling.once()
    past.add("schedule", "x", "paused")
    late = broker.join("crawler")
    await telling.once()
    past.add("schedule", "x", "pending")
    await telling.once()
    assert (await heard(late, 1))[0] == ScheduleMoved("schedule", "pending", 5, START)


async def test_an_event_has_its_own_time_and_error_after_later_moves(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock), broker.join("crawler")
    await telling.once()
    past.add("schedule", "retry_later", "scheduled", reason="no answer")
    past.add("schedule", "start", "running")
    past.add("schedule", "fail", "failed", reason="no page")
    past.add("schedule", "retry", "pending")
    await telling.once()
    assert [(one.state, one.next_due, one.error) for one in await heard(client, 4)] == [
        ("scheduled", None, "no answer"),
        ("running", None, None),
        ("failed", None, "no page"),
        ("pending", 5, None),
    ]


async def test_a_recurring_schedule_is_published_once_for_each_run(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock), broker.join("crawler")
    await telling.once()
    past.add("schedule", "succeed", "completed", at=1)
    past.add("schedule", "recur", "scheduled", at=1)
    past.add("schedule", "succeed", "completed", at=2)
    await telling.once()
    assert [one.state for one in await heard(client, 2)] == ["scheduled", "completed"]


async def test_progress_is_published_in_steps(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock), broker.join("crawler")
    await telling.once()
    for pages, seconds in [(1, 0), (5, 0), (11, 0), (12, 0), (12, 6), (12, 6), (13, 0), (13, 6)]:
        past.pages = pages
        clock.advance(seconds)
        past.add("run", "report", None)
        await telling.once()
    past.pages = 14
    past.add("run", "finish", "completed")
    await telling.once()
    told = await heard(client, 7)
    assert [one.pages for one in told[:-1]] == [1, 11, 12, 12, 13, 14]
    assert [one.items for one in told] == [0, 5, 6, 6, 6, 7, 7]
    assert [type(one) for one in told] == [*[RunAdvanced] * 6, RunEnded]
    assert (told[-1].state, told[-1].duration_ms, told[-1].schedule) == ("completed", 9, "schedule")


async def test_progress_is_published_without_events(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock), broker.join("crawler")
    await telling.once()
    past.add("run", "start", "running")
    await telling.once()
    for _ in range(12):
        clock.advance(1)
        await telling.once()
    past.add("run", "finish", "completed")
    await telling.once()
    clock.advance(9)
    await telling.once()
    broker.close()
    told = [type(one) async for one in client]
    assert told == [*[RunAdvanced] * 3, RunEnded], "after five seconds, after ten, and at the end"


async def test_events_of_a_run_without_a_schedule_are_not_published(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock, schedule_id=None), broker.join("crawler")
    await telling.once()
    past.add("run", "finish", "completed")
    await telling.once()
    broker.close()
    assert [one async for one in client] == []


async def test_health_is_published_when_it_changes_and_at_an_interval(clock: FakeClock):
    up = True

    async def probe() -> str:
        if not up:
            raise Unavailable("down")
        return "Engine 1"

    broker = Broker()
    telling = HealthPublisher(broker, Health([Check("engine", probe)], clock), clock, every=30.0)
    await telling.once()
    client = broker.join("health")
    await telling.once()
    await telling.once()
    up = False
    await telling.once()
    clock.advance(30.0)
    await telling.once()
    broker.close()
    told = [(one.name, one.status, one.detail) async for one in client if isinstance(one, EngineHealth)]
    degraded = [("crawler", "degraded", None), ("engine", "degraded", "unavailable")]
    assert told == [("crawler", "healthy", None), ("engine", "healthy", "Engine 1"), *degraded, *degraded]


async def test_figures_are_counted_only_with_a_client(clock: FakeClock):
    class Found:
        asked = 0

        async def counts(self) -> dict[str, int]:
            self.asked += 1
            return {"open": 3}

    broker, found = Broker(), Found()
    port: Any = found
    telling = CountPublisher(broker, port, port, clock)
    await telling.once()
    assert found.asked == 0
    client = broker.join("metrics")
    await telling.once()
    assert await heard(client, 2) == [Counted("tasks_open", 3, START), Counted("runs_open", 3, START)]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_the_moves_that_create_a_schedule_are_not_published(clock: FakeClock):
    broker, past = Broker(), Past()
    telling, client = teller(broker, past, clock), broker.join("crawler")
    await telling.once()
    for move, became, at in (("create", "pending", 1), ("place", "scheduled", 1), ("pause", "paused", 1)):
        past.add("schedule", move, became, at)
    past.add("run", "create", "queued", 2)
    past.add("schedule", "place", "scheduled", 3)
    await telling.once()
    assert [(one.state, one.at) for one in await heard(client, 1)] == [("scheduled", 3)]
