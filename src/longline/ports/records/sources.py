"""Sources: places to crawl."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from longline.model.sources.source import NewSource, RemoteSource, SourceQuery, SourceRow


class SourceStore(Protocol):
    """Remembers sources."""

    async def add(self, source: NewSource) -> SourceRow:
        """Register a source; the one that is there when the name is taken."""
        ...

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; `Conflict` when the name is taken."""
        ...

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        """Bound how many URLs all runs of a source together may admit, past ones included; None for no bound."""
        ...

    async def get(self, source_id: int) -> SourceRow | None:
        """One source."""
        ...

    async def called(self, ref: str) -> SourceRow | None:
        """One source by the id that it has at its curator, else by its number."""
        ...

    async def identified(self, identity_key: str) -> SourceRow | None:
        """The source with that identity."""
        ...

    async def find(self, query: SourceQuery | None = None, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        """Sources by name, unless another order is wanted."""
        ...

    async def count(self, query: SourceQuery) -> int:
        """How many there are of those."""
        ...

    async def change(self, source: SourceRow, was: SourceRow | None = None) -> SourceRow | None:
        """Write a source as it is now; None when it is gone or no longer what it `was`. `Conflict` for a taken name."""
        ...

    async def remove(self, source_id: int) -> bool:
        """Forget a source; schedules and runs stay without it."""
        ...


class RemoteSourceStore(Protocol):
    """Sources of a remote source manager, and reports for it. The rules are in `model/sources/remote_source.py`."""

    async def get(self, ref: str) -> SourceRow | None:
        """One source by its id there."""
        ...

    async def take(self, sources: Sequence[RemoteSource], asked_at: int) -> int:
        """Take over what was said of sources, new ones among them; how many changed.

        What changed here after it was asked for is newer, and stays. A source of our own that has the name of a new one
        is that one from now on.
        """
        ...

    async def present(self) -> list[str]:
        """The ids there of all that the curator has, as far as is known."""
        ...

    async def withdraw(self, refs: Collection[str]) -> None:
        """The curator no longer has these; they come back when it has."""
        ...

    async def claim(self, limit: int, hold_ms: int) -> list[SourceRow]:
        """Sources of whose feeds the curator is to be told something; nobody else gets them meanwhile."""
        ...

    async def release(self, sources: Sequence[SourceRow]) -> None:
        """The curator could not be told of these: anybody may try."""
        ...

    async def told(self, source: SourceRow) -> None:
        """The curator knows the feed as it is in this row; what changed since is still to be told."""
        ...


class HandledMessageStore(Protocol):
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
