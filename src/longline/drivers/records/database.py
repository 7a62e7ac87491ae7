"""The interface to either engine: a transaction is an async function over `Transaction`.

Each operation of a port is written once. PostgreSQL awaits its statements on a connection; SQLite drives the same
function to its end inside its own thread, so that a whole transaction costs one hop between threads.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from longline.drivers.records.named_queries import Engine

T = TypeVar("T")


class TryAgain(Exception):
    """A concurrent change of rows that a transaction relied on; raised to roll back and begin anew."""


class Row(Protocol):
    """A result row: columns by name; it iterates over values."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def keys(self) -> Any: ...


class Transaction(Protocol):
    """The statements of a transaction. Nothing else may be awaited inside a transaction."""

    engine: Engine
    now: int

    async def all(self, name: str, /, **params: Any) -> Sequence[Row]:
        """Run a named query and return its rows."""
        ...

    async def one(self, name: str, /, **params: Any) -> Row | None:
        """Run a named query and return its first row."""
        ...

    async def batch(self, name: str, rows: Sequence[tuple[Any, ...]], /, **params: Any) -> Sequence[Row]:
        """Run a batch query over rows and return its result; without rows, run no statement."""
        ...

    async def script(self, text: str) -> None:
        """Run several statements, without parameters or results."""
        ...


class Database(Protocol):
    """An engine. On PostgreSQL `transact` begins anew after a deadlock, a serialisation error or `TryAgain`."""

    engine: Engine

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work` in one transaction that commits when `work` returns and rolls back when `work` raises."""
        ...

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work`, which only reads."""
        ...

    def connections(self) -> dict[str, int]:
        """Return the number of busy and of idle connections of this process."""
        ...

    async def version(self) -> str:
        """Return the name and version of the engine."""
        ...

    async def close(self) -> None:
        """Close the connections to the engine."""
        ...
