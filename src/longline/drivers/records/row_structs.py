"""Result rows of either engine as structs of the model, and the base of records without moves of states."""

from typing import Any, TypeVar

import msgspec

from longline.drivers.records.database import Database, Row, Transaction
from longline.model.errors import Unavailable

S = TypeVar("S", bound=msgspec.Struct)


def values_of(row: Row) -> dict[str, Any]:
    """Return the values of a row by their columns."""
    return {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row iterates over values


def struct(row: Row, kind: type[S]) -> S:
    """Return a row as a struct of the model; SQLite's 0 and 1 become booleans where the model has booleans."""
    return msgspec.convert(values_of(row), kind, strict=False)


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
