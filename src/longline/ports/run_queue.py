"""A copy of the queue of runs for programs that watch it; the rows of runs are the queue."""

from typing import Protocol


class RunQueue(Protocol):
    """The ids of runs that wait to be started, in the order in which they came due."""

    async def push(self, uid: str) -> None:
        """Add a run; raise `Unavailable` when the queue cannot be written."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
