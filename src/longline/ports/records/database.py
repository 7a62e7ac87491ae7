"""The database engine: its version, its tables and its clock."""

from typing import Protocol


class Schema(Protocol):
    """The tables and migrations of a database."""

    async def version(self) -> str:
        """Return name and version of the engine, for people: `SQLite 3.40.1`, `PostgreSQL 18.6`."""
        ...

    async def pending(self) -> list[str]:
        """Return the names of unapplied migrations, oldest first."""
        ...

    async def migrate(self) -> list[str]:
        """Apply pending migrations, each in its own transaction, one process at a time; return their names."""
        ...

    async def problems(self, *, deep: bool = False) -> list[str]:
        """Return the faults of an embedded database file; `deep` takes longer and finds more."""
        ...

    async def now(self) -> int:
        """Return the engine's own time, in milliseconds."""
        ...

    async def distant_times(self) -> dict[str, int]:
        """Return the numbers of schedules, hosts and tasks that are due later than any rule puts them."""
        ...

    async def close(self) -> None:
        """Finish open transactions and close all connections."""
        ...
