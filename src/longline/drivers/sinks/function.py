"""Sinks that are functions of plugins."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from longline.model.errors import BadInput
from longline.model.sinks.sink import DEFAULT_BATCH_SIZE, ItemRefused, SinkAddress, SinkItem
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
        try:
            return self._find().batch_size
        except BadInput:
            return DEFAULT_BATCH_SIZE  # `deliver` reports that the function is gone

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        try:
            await self._call(items)
        except ItemRefused as error:
            await self._deliver_before(items, error)
        except Exception as error:
            raise SinkFailed(_first_line(error)) from error

    async def close(self) -> None:
        """Close nothing: a function keeps its own connections."""

    async def _deliver_before(self, items: Sequence[SinkItem], error: ItemRefused) -> None:
        """Deliver the items before a refused one, so that the position of the sink is right before it."""
        refused = next((at for at, item in enumerate(items) if item.id == error.item.id), None)
        if refused is None:
            raise SinkFailed("ItemRefused names an item that is not in the batch") from error
        if refused:
            await self.deliver(items[:refused])
        raise SinkFailed(_first_line(error), refused, refused=True) from error

    async def _call(self, items: Sequence[SinkItem]) -> None:
        function = self._find().function
        async with asyncio.timeout(DELIVERY_TIMEOUT_SECONDS):
            if inspect.iscoroutinefunction(function):
                await function(self._address.url, items)
            else:
                await asyncio.to_thread(function, self._address.url, items)


def _first_line(error: Exception) -> str:
    text = str(error) if isinstance(error, ItemRefused | BadInput) else f"{type(error).__name__}: {error}"
    return text.splitlines()[0] if text else type(error).__name__
