"""Signals by PostgreSQL's LISTEN and NOTIFY, over one connection of their own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

import asyncpg

from longline.drivers.signals.codec import CHANNEL
from longline.model.errors import Unavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Answer = TypeVar("Answer")

_ANSWER_TIMEOUT_SECONDS = 5.0
_PING_AFTER_SECONDS = 20.0  # a silently cut connection looks like an idle one
_MAX_CHANNEL_BYTES = 63
_FAILURES = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, ValueError)
_LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
)


class PostgresTransport:
    """Payloads as notifications; the channel is that of the schema, so two schemas do not share signals."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.name = f"PostgreSQL at {parts.netloc.rpartition('@')[2] or 'its socket'}{parts.path}"
        self._url = url
        self._channel = CHANNEL
        self._connection: Connection | None = None
        self._one_at_a_time = asyncio.Lock()  # a connection does one thing at a time

    async def publish(self, payload: str) -> None:
        await self._ask(
            lambda connection: connection.execute(
                "SELECT pg_notify($1, $2)", self._channel, payload, timeout=_ANSWER_TIMEOUT_SECONDS
            )
        )

    @asynccontextmanager
    async def receive(self) -> AsyncIterator[AsyncIterator[str]]:
        arrived: asyncio.Queue[str | None] = asyncio.Queue()
        connection = await self._ask(lambda connection: self._attach(connection, arrived))
        try:
            yield self._payloads(connection, arrived)
        except Unavailable:
            connection.terminate()
            raise

    async def check(self) -> str:
        await self._ask(lambda connection: connection.execute("SELECT 1", timeout=_ANSWER_TIMEOUT_SECONDS))
        return self.name

    async def close(self) -> None:
        async with self._one_at_a_time:
            if self._connection is not None and not self._connection.is_closed():
                with suppress(*_FAILURES):  # the connection is gone already
                    await self._connection.close(timeout=_ANSWER_TIMEOUT_SECONDS)

    async def _ask(self, work: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Run work on the connection; once more on a new connection if the old one is dead."""
        async with self._one_at_a_time:
            with self._trouble():
                kept = self._connection
                if kept is not None and not kept.is_closed():
                    try:
                        return await work(kept)
                    except _LOST:
                        kept.terminate()
                return await work(await self._connect())

    async def _connect(self) -> Connection:
        connection: Connection = await asyncpg.connect(self._url, timeout=_ANSWER_TIMEOUT_SECONDS)
        try:
            schema = await connection.fetchval("SELECT current_schema()", timeout=_ANSWER_TIMEOUT_SECONDS)
        except BaseException:
            connection.terminate()
            raise
        channel = f"{CHANNEL}.{schema}".encode()[:_MAX_CHANNEL_BYTES]
        self._channel, self._connection = channel.decode(errors="ignore"), connection
        return connection

    async def _attach(self, connection: Connection, arrived: asyncio.Queue[str | None]) -> Connection:
        def hear(_connection: object, _process: int, _channel: str, payload: object) -> None:
            arrived.put_nowait(str(payload))

        def end(_connection: object) -> None:
            arrived.put_nowait(None)

        connection.add_termination_listener(end)
        async with asyncio.timeout(_ANSWER_TIMEOUT_SECONDS):
            await connection.add_listener(self._channel, hear)
        return connection

    async def _payloads(self, connection: Connection, arrived: asyncio.Queue[str | None]) -> AsyncIterator[str]:
        while True:
            try:
                async with asyncio.timeout(_PING_AFTER_SECONDS):
                    payload = await arrived.get()
            except TimeoutError:
                await self._prove_alive(connection)
                continue
            if payload is None:
                raise Unavailable(f"{self.name} ended the connection")
            yield payload

    async def _prove_alive(self, connection: Connection) -> None:
        async with self._one_at_a_time:
            with self._trouble():
                await connection.execute("SELECT 1", timeout=_ANSWER_TIMEOUT_SECONDS)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except _FAILURES as error:
            reason = str(error).partition("\n")[0] or "it does not answer"
            raise Unavailable(f"{self.name} cannot be used for signals: {reason}") from error
