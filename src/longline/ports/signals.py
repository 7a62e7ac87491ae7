"""Wake-up calls between parts of the platform. A signal is a hint: it may be lost, so whoever waits also looks."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class Signal(NamedTuple):
    """One call: what it is about, and a short text."""

    topic: str
    text: str


class Signals(Protocol):
    """Sends and hears wake-up calls."""

    async def send(self, topic: str, text: str = "") -> None:
        """Tell everybody who listens to `topic`. Text is at most 1,000 characters."""
        ...

    def listen(self, *topics: str) -> AbstractAsyncContextManager[AsyncIterator[Signal]]:
        """Hear what is sent on these topics from the moment the context is entered."""
        ...

    async def check(self) -> str:
        """Prove that the carrier can be reached; answer what it is, in a few words."""
        ...

    async def close(self) -> None:
        """Stop listening and let go of connections."""
        ...
