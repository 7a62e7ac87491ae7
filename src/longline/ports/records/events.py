"""Events: what changed, in an order that can be followed."""

from typing import Protocol

from longline.model.event import Event


class Events(Protocol):
    """Reads the event log; events are written by the transactions they tell of."""

    async def find(self, *, after: int = 0, limit: int = 1000, listed: bool = True) -> list[Event]:
        """Events with a larger id, oldest first; whoever goes on from the last of them misses none.

        Without `listed` the lists of task moves are left out.
        """
        ...

    async def newest(self) -> int:
        """The largest id there is; what comes later is larger."""
        ...
