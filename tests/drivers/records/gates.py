"""Fixed interleavings on PostgreSQL: one transaction is held at a statement while others continue."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.named_queries import Engine
from tests.drivers.records.peek import Peek

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds after which an event is no longer expected, on a busy machine too."""


class Gate:
    """A gate that stops the first transaction that is about to run a query, until the gate is opened."""

    def __init__(self, before: str) -> None:
        self.before = before
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    async def pass_through(self, name: str) -> None:
        if name == self.before and not self.reached.is_set():
            self.reached.set()
            await self.open.wait()


class _GatedTx:
    def __init__(self, tx: Transaction, gate: Gate) -> None:
        self._tx, self._gate = tx, gate
        self.engine, self.now = tx.engine, tx.now

    async def all(self, name: str, /, **params: Any) -> Sequence[Row]:
        await self._gate.pass_through(name)
        return await self._tx.all(name, **params)

    async def one(self, name: str, /, **params: Any) -> Row | None:
        await self._gate.pass_through(name)
        return await self._tx.one(name, **params)

    async def batch(self, name: str, rows: Sequence[tuple[Any, ...]], /, **params: Any) -> Sequence[Row]:
        await self._gate.pass_through(name)
        return await self._tx.batch(name, rows, **params)

    async def script(self, text: str) -> None:
        await self._tx.script(text)


class GatedDatabase:
    """A database with transactions that stop at a gate."""

    def __init__(self, database: Database, gate: Gate) -> None:
        self._database, self._gate = database, gate
        self.engine: Engine = database.engine

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._database.transact(lambda tx: work(_GatedTx(tx, self._gate)))

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self._database.read(lambda tx: work(_GatedTx(tx, self._gate)))

    def connections(self) -> dict[str, int]:
        return self._database.connections()

    async def version(self) -> str:
        return await self._database.version()

    async def close(self) -> None:
        await self._database.close()


async def settled(work: "asyncio.Future[Any]", peek: Peek, others: int = 0) -> None:
    """Wait until the work is done, or waits for a lock besides that many others."""
    # A wait for a lock sends no notification.
    waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while not work.done() and await peek.value(waiting) <= others:
        await asyncio.wait({work}, timeout=0.005)


async def interleave(
    held: Callable[[], Awaitable[Any]], gate: Gate, other: Callable[[], Awaitable[Any]], peek: Peek
) -> list[Any]:
    """Run `held` up to the gate, `other` as far as possible, then both to the end; return their results or errors."""
    async with together() as started:
        first = started(held())
        await asyncio.wait_for(gate.reached.wait(), PATIENCE)
        second = started(other())
        await asyncio.wait_for(settled(second, peek), PATIENCE)
        gate.open.set()
        return list(await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), PATIENCE))


@asynccontextmanager
async def together() -> AsyncIterator[Callable[[Awaitable[Any]], "asyncio.Future[Any]"]]:
    """Start coroutines that wait for each other; those that have not ended are cancelled, so that no lock stays."""
    begun: list[asyncio.Future[Any]] = []

    def start(work: Awaitable[Any]) -> "asyncio.Future[Any]":
        begun.append(asyncio.ensure_future(work))
        return begun[-1]

    try:
        yield start
    finally:
        for work in begun:
            work.cancel()
        await asyncio.gather(*begun, return_exceptions=True)


@asynccontextmanager
async def locked(url: str, statement: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Hold a lock until the test releases it."""
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(statement)
    try:
        yield transaction.rollback
    finally:
        await connection.close()
