"""Messages of others that were heeded."""

from typing import Protocol


class Heard(Protocol):
    """Remembers the ids of messages for a while."""

    async def has(self, message_id: str) -> bool:
        """Whether a message was heeded."""
        ...

    async def note(self, message_id: str) -> None:
        """Remember that it was."""
        ...

    async def prune(self, age_ms: int) -> None:
        """Forget those of that age."""
        ...
