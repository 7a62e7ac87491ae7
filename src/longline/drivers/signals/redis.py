"""Signals by the publish and subscribe of Redis, or of any server that speaks its protocol."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError

from longline.drivers.signals.codec import CHANNEL
from longline.model.errors import BadInput, Unavailable

_ANSWER_TIMEOUT_SECONDS = 5.0
_PING_AFTER_SECONDS = 20.0  # a silently cut connection looks like an idle one


class RedisTransport:
    """Payloads as messages; the channel has the database's number, because Redis channels span databases."""

    def __init__(self, url: str) -> None:
        try:
            self._client = Redis.from_url(
                url,
                socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS,
                socket_timeout=_ANSWER_TIMEOUT_SECONDS,
                # A pooled connection may have died since its last use: retry once; `ReconnectingSignals` pauses longer.
                retry=Retry(ConstantBackoff(0.05), 1),
            )
        except ValueError as error:
            raise BadInput(f"the address of Redis is not right: {error}") from None
        parts = urlsplit(url)
        self.name = f"Redis at {parts.netloc.rpartition('@')[2] or parts.path}"
        self._channel = f"{CHANNEL}.{self._client.connection_pool.connection_kwargs.get('db') or 0}"

    async def publish(self, payload: str) -> None:
        with self._trouble():
            await self._client.publish(self._channel, payload)

    @asynccontextmanager
    async def receive(self) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self._client.pubsub() as pubsub:
            with self._trouble():
                await pubsub.subscribe(self._channel)
                confirmed = await pubsub.get_message(timeout=_ANSWER_TIMEOUT_SECONDS)
            if confirmed is None:
                raise Unavailable(f"{self.name} does not answer")
            yield self._payloads(pubsub)

    async def check(self) -> str:
        with self._trouble():
            await self._client.ping()
        return self.name

    async def close(self) -> None:
        await self._client.aclose()

    async def _payloads(self, pubsub: PubSub) -> AsyncIterator[bytes]:
        silent = False
        while True:
            with self._trouble():
                message = await pubsub.get_message(timeout=_ANSWER_TIMEOUT_SECONDS if silent else _PING_AFTER_SECONDS)
                if message is None and not silent:
                    await pubsub.ping()
            if message is None and silent:
                raise Unavailable(f"{self.name} does not answer")
            silent = message is None
            if message is not None and message["type"] == "message":
                yield message["data"]

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (RedisError, OSError) as error:
            raise Unavailable(f"{self.name} cannot be used for signals: {error}") from error
