"""Wake-up signals between parts of the platform. A signal may be lost, so each listener also polls."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class Signal(NamedTuple):
    """A topic and a short text."""

    topic: str
    text: str


class Signals(Protocol):
    """Sender and listener of wake-up signals."""

    async def send(self, topic: str, text: str = "") -> None:
        """Send a signal to all listeners of `topic`. Text is at most 1,000 characters."""
        ...

    def listen(self, *topics: str) -> AbstractAsyncContextManager[AsyncIterator[Signal]]:
        """Iterate over the signals on these topics, from the moment the context is entered."""
        ...

    async def check(self) -> str:
        """Prove that the transport can be reached; return a short description."""
        ...

    async def close(self) -> None:
        """Stop listening and close all connections."""
        ...
