"""Signals inside one process, for an installation with one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from longline.drivers.signals.codec import checked_signal, checked_topics
from longline.drivers.signals.fanout import Fanout
from longline.model.errors import Unavailable
from longline.ports.signals import Signal


class LocalSignals:
    """Signals that never leave the process."""

    def __init__(self) -> None:
        self._fanout = Fanout()

    async def send(self, topic: str, text: str = "") -> None:
        signal = checked_signal(topic, text)
        if self._fanout.closed:
            raise Unavailable("signals are closed")
        self._fanout.deliver(signal)

    @asynccontextmanager
    async def listen(self, *topics: str) -> AsyncIterator[AsyncIterator[Signal]]:
        wanted = checked_topics(topics)
        if self._fanout.closed:
            raise Unavailable("signals are closed")
        with self._fanout.inbox(wanted) as inbox:
            yield inbox

    async def check(self) -> str:
        return "in process"

    async def close(self) -> None:
        self._fanout.close()
