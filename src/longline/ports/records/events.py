"""Events: what changed, in the order it was written."""

from typing import Protocol

from longline.model.event import Event


class Events(Protocol):
    """Reads the event log; events are written by the transactions they tell of."""

    async def find(self, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events with a larger id, oldest first."""
        ...
