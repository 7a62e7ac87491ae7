"""Messages of others that were heeded."""

from contextlib import AbstractContextManager
from typing import Protocol


class Heard(Protocol):
    """Remembers the ids of messages for a while."""

    async def has(self, message_id: str) -> bool:
        """Whether a message was heeded."""
        ...

    def along(self, message_id: str) -> AbstractContextManager[None]:
        """Whatever changes a schedule meanwhile also says, in the same transaction, that the message was heeded."""
        ...

    async def note(self, message_id: str) -> None:
        """Remember that it was."""
        ...

    async def prune(self, age_ms: int) -> None:
        """Forget those of that age."""
        ...
