"""One way to talk to either engine: a transaction is an async function over `Transaction`.

Each operation of a port is written once. PostgreSQL awaits its statements on a connection; SQLite drives the same
function to its end inside its own thread, so that a whole transaction costs one hop between threads.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from longline.drivers.records.named_queries import Engine

T = TypeVar("T")


class TryAgain(Exception):
    """What a transaction had decided upon was changed by another one; raised to roll back and begin anew."""


class Row(Protocol):
    """A result row: columns by position or by name."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def keys(self) -> Any: ...


class Transaction(Protocol):
    """What can be done inside a transaction. Only these may be awaited there."""

    engine: Engine
    now: int

    async def all(self, name: str, /, **params: Any) -> Sequence[Row]:
        """Run a named query; its rows."""
        ...

    async def one(self, name: str, /, **params: Any) -> Row | None:
        """Run a named query; its first row."""
        ...

    async def batch(self, name: str, rows: Sequence[tuple[Any, ...]], /, **params: Any) -> Sequence[Row]:
        """Run a batch query over rows; the rows it returns. No rows, no statement."""
        ...

    async def script(self, text: str) -> None:
        """Run several statements, without parameters or results."""
        ...


class Database(Protocol):
    """An engine. `transact` begins anew when the engine asks for it (deadlock, serialisation) or `work` does."""

    engine: Engine

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work` in one transaction that commits when it returns and rolls back when it raises."""
        ...

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work`, which only reads."""
        ...

    async def version(self) -> str:
        """Name and version of the engine."""
        ...

    async def close(self) -> None:
        """Let go of the engine."""
        ...


S = TypeVar("S", bound=msgspec.Struct)


def struct(row: Row, kind: type[S]) -> S:
    """A row as a struct of the model; SQLite's 0 and 1 become booleans where the model has them."""
    values: Mapping[str, Any] = {key: row[key] for key in row.keys()}  # noqa: SIM118 - a Row iterates over values
    return msgspec.convert(values, kind, strict=False)
