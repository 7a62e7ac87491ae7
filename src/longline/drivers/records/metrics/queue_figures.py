"""Figures of the queue, and the time that transactions take."""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, TypeVar

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import Table
from longline.model.errors import Unavailable
from longline.model.metrics.metric import LATE_MS, MAX_COUNTED, QueueFigures

T = TypeVar("T")

TransactionObserver = Callable[[str, float], None]
"""A function that is called after each transaction with `read` or `write` and the `perf_counter` of its begin."""


class MetricRecords(Table):
    """Figures for dashboards."""

    async def queue_figures(self) -> QueueFigures:
        found = await self._one("queue_figures", QueueFigures, most=MAX_COUNTED, late_ms=LATE_MS)
        if found is None:
            raise Unavailable("queue_figures returned nothing")
        return found

    def connections(self) -> dict[str, int]:
        return self._database.connections()


class TimedDatabase:
    """A database whose transactions are timed."""

    def __init__(self, database: Database, observe: TransactionObserver) -> None:
        self._inner, self._observe = database, observe
        self.engine: Any = database.engine

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        begun = perf_counter()
        try:
            return await self._inner.transact(work)
        finally:
            self._observe("write", begun)

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        begun = perf_counter()
        try:
            return await self._inner.read(work)
        finally:
            self._observe("read", begun)

    def connections(self) -> dict[str, int]:
        return self._inner.connections()

    async def version(self) -> str:
        return await self._inner.version()

    async def close(self) -> None:
        await self._inner.close()
