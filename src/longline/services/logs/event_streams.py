"""Event streams: one broker in each process, its clients, and the publishers that feed it."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal

import msgspec

from longline.model.bounded_dict import BoundedDict
from longline.model.logs.event import Event
from longline.model.runs.run import RunRow
from longline.model.states import RUN_ENDED
from longline.ports.clock import Clock
from longline.ports.records.frontier.frontier import TaskStore
from longline.ports.records.logs import EventStore
from longline.ports.records.runs.runs import RunHistoryStore, RunStore
from longline.ports.records.schedules import ScheduleStore
from longline.services.health import Health, Report

log = logging.getLogger(__name__)

Stream = Literal["crawler", "health", "metrics"]

MAX_CLIENTS = 1000
MAX_WAITING = 100
"""Largest number of unread events of a client before it is disconnected."""

FAILURES = frozenset({"retry_later", "fail"})
"""Moves of a schedule whose reason is the error of its run."""

PROGRESS_PAGES = 10
PROGRESS_SECONDS = 5.0
MAX_RUNS = 10_000


class ScheduleMoved(msgspec.Struct, frozen=True):
    """A schedule changed its state."""

    uid: str
    state: str
    next_due: int | None
    at: int
    error: str | None = None


class RunAdvanced(msgspec.Struct, frozen=True):
    """The progress of a run."""

    schedule: str
    uid: str
    pages: int
    items: int
    at: int


class RunEnded(msgspec.Struct, frozen=True):
    """A run ended."""

    schedule: str
    uid: str
    state: str
    duration_ms: int
    items: int
    error: str | None
    at: int


class EngineHealth(msgspec.Struct, frozen=True):
    """The health of one engine, or of the whole crawler."""

    name: str
    status: str
    latency_ms: float
    detail: str | None
    at: int


class Counted(msgspec.Struct, frozen=True):
    """The number of tasks or runs in one state."""

    name: str
    value: int
    at: int


Happening = ScheduleMoved | RunAdvanced | RunEnded | EngineHealth | Counted


class ClientLimit:
    """The limit of concurrent clients of all streams."""

    def __init__(self, max_clients: int = MAX_CLIENTS) -> None:
        self._max_clients, self.taken = max_clients, 0

    def take(self) -> bool:
        """Take a place and return True, or False when all are taken; call `release` to give the place back."""
        if self.taken >= self._max_clients:
            return False
        self.taken += 1
        return True

    def release(self) -> None:
        """Give a place back."""
        self.taken -= 1


class Subscription(AsyncIterator[Happening]):
    """The unread events of one client. `lost` is set when the queue overflowed."""

    def __init__(self, max_waiting: int) -> None:
        self._waiting: asyncio.Queue[Happening | None] = asyncio.Queue(max_waiting)
        self.lost = asyncio.Event()

    def push(self, happening: Happening | None) -> bool:
        """Add an event without waiting, None for the end; return False when the queue is full."""
        try:
            self._waiting.put_nowait(happening)
        except asyncio.QueueFull:
            self.lost.set()
            return False
        return True

    async def __anext__(self) -> Happening:
        happening = await self._waiting.get()
        if happening is None:
            raise StopAsyncIteration
        return happening


class Broker:
    """A broker that sends events to every client of a stream; a slow client is dropped without delaying the others."""

    def __init__(self, most_waiting: int = MAX_WAITING) -> None:
        self._max_clients = most_waiting
        self._clients: defaultdict[Stream, set[Subscription]] = defaultdict(set)
        self.closed = False

    def join(self, stream: Stream) -> Subscription:
        """Subscribe a client to the events of a stream from now on."""
        client = Subscription(self._max_clients)
        if self.closed:
            client.push(None)
        self._clients[stream].add(client)
        return client

    def unsubscribe(self, stream: Stream, client: Subscription) -> None:
        """Unsubscribe a client."""
        self._clients[stream].discard(client)

    def has_clients(self, stream: Stream) -> bool:
        """Return whether a stream has clients."""
        return bool(self._clients[stream])

    def publish(self, stream: Stream, happening: Happening) -> None:
        """Send an event to every client of a stream, and drop clients with a full queue."""
        for client in [c for c in self._clients[stream] if not c.push(happening)]:
            log.warning("slow stream client disconnected", extra={"stream": stream})
            self.unsubscribe(stream, client)

    def close(self) -> None:
        """End every client's subscription after its unread events."""
        self.closed = True
        for clients in self._clients.values():
            for client in clients:
                client.push(None)


class MovePublisher:
    """A publisher of changes of schedules and runs, from the event table."""

    def __init__(
        self,
        broker: Broker,
        events: EventStore,
        schedules: ScheduleStore,
        runs: RunStore,
        history: RunHistoryStore,
        clock: Clock,
    ) -> None:
        self._broker, self._events, self._schedules, self._runs = broker, events, schedules, runs
        self._history, self._clock = history, clock
        self._after: int | None = None
        self._marking = asyncio.Lock()
        self._published: BoundedDict[int, tuple[int, float]] = BoundedDict(MAX_RUNS)
        self._created: tuple[int, int] | None = None

    async def start_position(self) -> int:
        """Return the event id to read from, by default the newest: clients of the stream get all later events."""
        async with self._marking:
            if self._after is None:
                self._after = await self._events.newest()
            return self._after

    async def once(self) -> None:
        """Publish the events since the last call, if the stream has clients."""
        if not self._broker.has_clients("crawler"):
            self._after = None
            return
        after = await self.start_position()
        while events := await self._events.find(after=after, listed=False):
            await self._publish(events)
            self._after = after = events[-1].id
        now = self._clock.monotonic()
        for run_id in [i for i, (_, at) in self._published.items() if now - at >= PROGRESS_SECONDS]:
            await self._publish_progress(run_id)

    async def _publish(self, events: Sequence[Event]) -> None:
        # A recurring schedule passes through `completed` in one step: only its final state is published.
        recurred = {(e.subject, e.at) for e in events if e.noun == "schedule" and e.move == "recur"}
        for event in events:
            if event.move == "create":
                self._created = event.subject, event.at
            elif event.noun == "schedule" and event.became:
                # Clients learn of a new schedule by its first move after the moves that made it.
                made = event.move in ("place", "pause") and self._created == (event.subject, event.at)
                if not made and (event.move != "succeed" or (event.subject, event.at) not in recurred):
                    await self._publish_schedule(event)
            elif event.noun == "run":
                await self._publish_run(event)

    async def _publish_schedule(self, event: Event) -> None:
        row = await self._schedules.get(event.subject)
        if row is None or not event.became:
            return
        # The schedule may have gone on since: then its next time and its error belong to a later event.
        due, error = (row.next_due, row.error) if row.state == event.became else (None, None)
        error = event.reason if event.move in FAILURES else error
        self._broker.publish("crawler", ScheduleMoved(row.uid, event.became, due, event.at, error))

    async def _publish_run(self, event: Event) -> None:
        run = await self._runs.get(event.subject)
        schedule = await self._schedules.get(run.schedule_id) if run and run.schedule_id else None
        if run is None or schedule is None:
            return
        ended = event.became in RUN_ENDED
        if not (ended or self._has_advanced(run)):
            return
        items = await self._history.items(run.id)
        self._note(run)
        self._broker.publish("crawler", RunAdvanced(schedule.uid, run.uid, run.completed, items, event.at))
        if ended and event.became:
            self._published.pop(run.id, None)
            took = (run.ended_at or event.at) - (run.started_at or run.ended_at or event.at)
            happening = RunEnded(schedule.uid, run.uid, event.became, took, items, run.error, event.at)
            self._broker.publish("crawler", happening)

    async def _publish_progress(self, run_id: int) -> None:
        """Publish the progress of a run that had no event for `PROGRESS_SECONDS`."""
        run = await self._runs.get(run_id)
        schedule = await self._schedules.get(run.schedule_id) if run and run.schedule_id else None
        if run is None or schedule is None or run.state in RUN_ENDED:
            self._published.pop(run_id, None)
            return
        self._note(run)
        items, at = await self._history.items(run_id), self._clock.now()
        self._broker.publish("crawler", RunAdvanced(schedule.uid, run.uid, run.completed, items, at))

    def _has_advanced(self, run: RunRow) -> bool:
        """Return whether a run has enough new pages to publish its progress at once, and not after a while."""
        if run.id not in self._published:
            self._note(run)
            return run.completed > 0
        return run.completed - self._published[run.id][0] >= PROGRESS_PAGES

    def _note(self, run: RunRow) -> None:
        self._published[run.id] = (run.completed, self._clock.monotonic())


class HealthPublisher:
    """A publisher of the engines' health: on every change, and every `every` seconds."""

    def __init__(self, broker: Broker, health: Health, clock: Clock, every: float = 30.0) -> None:
        self._broker, self._health, self._clock, self._every = broker, health, clock, every
        self._was: Mapping[str, str] = {}
        self._at = float("-inf")

    async def once(self) -> None:
        """Check health, if the stream has clients, and publish a changed or due report."""
        if not self._broker.has_clients("health"):
            self._was = {}
            return
        report = await self._health.report()
        now = self._clock.monotonic()
        states = {name: check.status for name, check in report.checks.items()}
        if states != self._was or now - self._at >= self._every:
            self._was, self._at = states, now
            self._publish(report)

    def _publish(self, report: Report) -> None:
        at = self._clock.now()
        slowest = max((check.response_time_ms for check in report.checks.values()), default=0.0)
        self._broker.publish("health", EngineHealth("crawler", report.status, slowest, None, at))
        for name, check in report.checks.items():
            seen = EngineHealth(name, check.status, check.response_time_ms, check.detail or check.error, at)
            self._broker.publish("health", seen)


class CountPublisher:
    """A publisher of the numbers of tasks and runs."""

    def __init__(self, broker: Broker, tasks: TaskStore, runs: RunStore, clock: Clock) -> None:
        self._broker, self._tasks, self._runs, self._clock = broker, tasks, runs, clock

    async def once(self) -> None:
        """Count and publish, if the stream has clients."""
        if not self._broker.has_clients("metrics"):
            return
        tasks, runs, at = await self._tasks.counts(), await self._runs.counts(), self._clock.now()
        for noun, found in (("tasks", tasks), ("runs", runs)):
            for state, count in found.items():
                self._broker.publish("metrics", Counted(f"{noun}_{state}", count, at))
