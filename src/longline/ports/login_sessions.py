"""Logins of runs."""

from typing import Protocol

import msgspec


class SessionRow(msgspec.Struct, frozen=True):
    """The last login of a run by one function: its number, and what it left, locked by the vault."""

    number: int
    locked: str


class SessionStore(Protocol):
    """Logins of runs, by the name of the function that logs in."""

    async def get(self, run_id: int, name: str) -> SessionRow | None:
        """Return the last login of a run."""
        ...

    async def put(self, run_id: int, name: str, number: int, locked: str) -> None:
        """Store a login, unless one with a larger number is stored."""
        ...

    async def drop_ended(self) -> int:
        """Delete the logins of runs that have ended; return how many."""
        ...
