"""The base of records without moves of states, on either engine."""

from typing import Any, TypeVar

import msgspec

from longline.drivers.records.database import Database, Row, Transaction, struct
from longline.model.errors import Unavailable

S = TypeVar("S", bound=msgspec.Struct)


class Table:
    """The common queries that read or write a noun."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _all(self, query: str, shape: type[S], /, **params: Any) -> list[S]:
        async def work(tx: Transaction) -> list[S]:
            return [struct(row, shape) for row in await tx.all(query, **params)]

        return await self._database.read(work)

    async def _one(self, query: str, shape: type[S], /, **params: Any) -> S | None:
        rows = await self._all(query, shape, **params)
        return rows[0] if rows else None

    async def _make(self, query: str, /, **params: Any) -> Row:
        async def work(tx: Transaction) -> Row | None:
            return await tx.one(query, **params)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"{query} returned nothing")
        return row

    async def _write(self, query: str, /, **params: Any) -> None:
        async def work(tx: Transaction) -> None:
            await tx.all(query, **params)

        await self._database.transact(work)
