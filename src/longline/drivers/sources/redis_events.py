"""Source events from a Redis stream, shared among processes by a consumer group."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from longline.model.errors import Unavailable
from longline.ports.sources import Delivery

BATCH_SIZE = 10
WAIT_MS = 5000
IDLE_MS = 30_000
"""Milliseconds after which an unsettled message is taken over, and between two searches for such messages."""

MAX_PARKED = 10_000
_ANSWER_TIMEOUT_SECONDS = 5.0


class RedisQueue(NamedTuple):
    """The names of a stream, its consumer group, the stream for parked messages, and the field of their bodies."""

    stream: str
    group: str
    parked: str
    field: str
    batch_size: int = BATCH_SIZE
    park_form: Callable[[bytes, int, str], bytes] | None = None
    """The body of a parked message, from its own, its deliveries and the reason; if not given, its own."""


STREAM, GROUP, PARKED = "source-events", "crawler-workers", "source-events:parked"
SOURCE_EVENTS = RedisQueue(STREAM, GROUP, PARKED, "event")


class RedisSourceEvents:
    """One consumer of the group of a stream, that of source events by default."""

    def __init__(
        self, url: str, queue: RedisQueue = SOURCE_EVENTS, *, wait_ms: int = WAIT_MS, idle_ms: int = IDLE_MS
    ) -> None:
        self._queue = queue
        self._client: Any = Redis.from_url(
            url, socket_connect_timeout=5.0, socket_timeout=wait_ms / 1000 + _ANSWER_TIMEOUT_SECONDS
        )
        self._name = f"crawler-{uuid4().hex[:8]}"
        self._wait_ms, self._idle_ms = wait_ms, idle_ms
        self._swept = float("-inf")
        self._joined = False

    async def receive(self) -> Sequence[Delivery]:
        with self._trouble():
            await self._join()
            try:
                if left := await self._left_lying():
                    return left
                queue, new = self._queue, {self._queue.stream: ">"}
                found = await self._client.xreadgroup(
                    queue.group, self._name, new, count=queue.batch_size, block=self._wait_ms
                )
            except ResponseError:
                # A server that restarted empty has no group: the next `receive` creates the group.
                self._joined = False
                raise
            # RESP2 returns a list of pairs, RESP3 a dictionary of lists.
            streams = found.values() if isinstance(found, dict) else (messages for _, messages in found or ())
            return [self._delivery(message) for messages in streams for message in _flat(messages)]

    async def acknowledge(self, ids: Sequence[str]) -> None:
        if ids:
            with self._trouble():
                await self._client.xack(self._queue.stream, self._queue.group, *ids)

    async def park(self, delivery: Delivery, why: str) -> None:
        form = self._queue.park_form
        body = (delivery.body or b"") if form is None else form(delivery.body or b"", delivery.times, why)
        facts = {self._queue.field: body, "id": delivery.id, "error": why}
        with self._trouble():
            await self._client.xadd(self._queue.parked, facts, maxlen=MAX_PARKED, approximate=True)
            await self._client.xack(self._queue.stream, self._queue.group, delivery.id)

    async def close(self) -> None:
        await self._client.aclose()

    async def _join(self) -> None:
        if self._joined:
            return
        try:
            await self._client.xgroup_create(self._queue.stream, self._queue.group, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        self._joined = True

    async def _left_lying(self) -> list[Delivery]:
        """Return messages that a consumer took and did not acknowledge, with their delivery counts."""
        if (time.monotonic() - self._swept) * 1000 < self._idle_ms:
            return []
        self._swept = time.monotonic()
        claimed = await self._client.xautoclaim(
            self._queue.stream, self._queue.group, self._name, self._idle_ms, "0-0", count=self._queue.batch_size
        )
        messages = claimed[1]
        if not messages:
            return []
        first, last = messages[0][0], messages[-1][0]
        pending = await self._client.xpending_range(
            self._queue.stream, self._queue.group, first, last, self._queue.batch_size * 10, self._name
        )
        times = {one["message_id"]: one["times_delivered"] for one in pending}
        return [self._delivery(message, times.get(message[0], 1)) for message in messages]

    def _delivery(self, message: tuple[bytes, dict[bytes, bytes] | None], times: int = 1) -> Delivery:
        name, fields = message
        return Delivery(name.decode(), (fields or {}).get(self._queue.field.encode()), times)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Turn failures of Redis into `Unavailable`, with the name of the stream."""
        try:
            yield
        except (RedisError, OSError) as error:
            named = "source events" if self._queue is SOURCE_EVENTS else self._queue.stream
            raise Unavailable(f"{named} cannot be had: {str(error).partition(chr(10))[0]}") from error


def _flat(messages: Any) -> list[Any]:
    """Return the messages of one stream, which RESP3 wraps in one more list."""
    return messages[0] if messages and isinstance(messages[0], list) else messages
