"""What another service says of sources: made, changed, removed, switched on and off."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Delivery(msgspec.Struct, frozen=True):
    """A message, and how often it was handed out."""

    id: str
    body: bytes | None
    times: int = 1


class SourceEvents(Protocol):
    """A queue of messages, each handed out again until it is settled. Raises `Unavailable` when it is away."""

    async def receive(self) -> Sequence[Delivery]:
        """Wait a little for messages: those that others left lying, then new ones."""
        ...

    async def settle(self, ids: Sequence[str]) -> None:
        """Say that messages are done with."""
        ...

    async def park(self, delivery: Delivery, why: str) -> None:
        """Put a message aside that nobody can do anything with, and settle it."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
