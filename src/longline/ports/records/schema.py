"""The engine itself: its version, its tables and its clock."""

from typing import Protocol


class Schema(Protocol):
    """Looks after the tables."""

    async def version(self) -> str:
        """Which engine this is, for people: `SQLite 3.40.1`, `PostgreSQL 18.6`."""
        ...

    async def pending(self) -> list[str]:
        """Names of the migrations that were not applied yet, oldest first."""
        ...

    async def migrate(self) -> list[str]:
        """Apply what is pending, each in a transaction of its own, one process at a time; answer what was applied."""
        ...

    async def problems(self, *, deep: bool = False) -> list[str]:
        """Return the faults of an embedded database file; `deep` takes longer and finds more."""
        ...

    async def now(self) -> int:
        """The engine's own time, in milliseconds."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go of the engine."""
        ...
