"""Sinks that are functions of plugins."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.ports.sinks import SinkFailed

DELIVERY_TIMEOUT_SECONDS = 300.0


class MarkedFunction(Protocol):
    """A function that sends items, with the largest number of items of one call."""

    @property
    def batch_size(self) -> int:
        """Return the largest number of items of one call."""
        ...

    @property
    def function(self) -> Callable[[str, Sequence[SinkItem]], Awaitable[None] | None]:
        """Return the function."""
        ...


class FunctionSink:
    """A sink that passes batches to a function; the newest version of a changed file is called."""

    def __init__(self, address: SinkAddress, find: Callable[[], MarkedFunction]) -> None:
        self._address, self._find = address, find

    @property
    def batch_size(self) -> int:
        return self._find().batch_size

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        function = self._find().function
        try:
            async with asyncio.timeout(DELIVERY_TIMEOUT_SECONDS):
                if inspect.iscoroutinefunction(function):
                    await function(self._address.url, items)
                else:
                    await asyncio.to_thread(function, self._address.url, items)
        except Exception as error:
            # The text of a foreign library may repeat the address, which may hold a password.
            text = f"{type(error).__name__}: {error}".replace(self._address.url, self._address.label)
            raise SinkFailed(text.splitlines()[0]) from error

    async def close(self) -> None:
        """Close nothing: a function keeps its own connections."""
