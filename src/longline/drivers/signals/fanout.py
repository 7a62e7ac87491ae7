"""Delivery of signals from one process's transport to the listeners inside the process."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from longline.ports.signals import Signal

INBOX_SIZE = 1000
"""Signals that wait for a slow listener; beyond it the oldest are dropped, since a newer signal serves as well."""


class Inbox(AsyncIterator[Signal]):
    """Undelivered signals of one listener; the iteration ends when the inbox is closed and empty."""

    def __init__(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self._waiting: deque[Signal] = deque(maxlen=INBOX_SIZE)
        self._changed = asyncio.Event()
        self._closed = False

    def push(self, signal: Signal) -> None:
        """Add a signal without ever waiting for the listener."""
        self._waiting.append(signal)
        self._changed.set()

    def close(self) -> None:
        """Deliver the remaining signals, then stop."""
        self._closed = True
        self._changed.set()

    async def __anext__(self) -> Signal:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()


class Fanout:
    """The inboxes of all listeners; each signal goes to every inbox with its topic."""

    def __init__(self) -> None:
        self._inboxes: set[Inbox] = set()
        self.closed = False

    def deliver(self, signal: Signal) -> None:
        """Deliver a signal to all listeners of its topic."""
        for inbox in self._inboxes:
            if signal.topic in inbox.topics:
                inbox.push(signal)

    @contextmanager
    def inbox(self, topics: frozenset[str]) -> Iterator[Inbox]:
        """Yield an inbox for as long as the context lasts."""
        inbox = Inbox(topics)
        self._inboxes.add(inbox)
        try:
            yield inbox
        finally:
            self._inboxes.discard(inbox)

    def close(self) -> None:
        """End every listener's iteration."""
        self.closed = True
        for inbox in self._inboxes:
            inbox.close()
