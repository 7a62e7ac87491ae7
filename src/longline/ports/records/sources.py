"""Sources, the reports to a remote source manager, and handled messages."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from longline.model.sources.source import FailingSource, NewSource, RemoteSource, SourceChange, SourceQuery, SourceRow
from longline.ports.records.schedules import ScheduleStores


class SourceStore(Protocol):
    """Sources."""

    async def add(self, source: NewSource) -> SourceRow:
        """Register a source; return the existing source when the name is taken."""
        ...

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; raise `Taken` when the name or the slug is taken.

        A source of this name on the same host that only other APIs use gets one more use, and stays as it is.
        """
        ...

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        """Limit the number of URLs that all runs of a source, past ones included, may admit; None for no limit."""
        ...

    async def get(self, source_id: int) -> SourceRow | None:
        """Return one source."""
        ...

    async def get_many(self, ids: Collection[int]) -> dict[int, SourceRow]:
        """Return the sources with these ids."""
        ...

    async def get_by_ref(self, ref: str) -> SourceRow | None:
        """Return one source by its id at the source manager, else by its number."""
        ...

    async def get_by_name(self, name: str) -> SourceRow | None:
        """Return the source of that name."""
        ...

    async def get_by_identity(self, identity_key: str) -> SourceRow | None:
        """Return the source with that identity."""
        ...

    async def find(self, query: SourceQuery | None = None, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        """Return sources by name, unless another order is wanted."""
        ...

    async def count(self, query: SourceQuery) -> int:
        """Return the number of matching sources."""
        ...

    async def change(self, source: SourceRow, was: SourceRow | None = None) -> SourceRow | None:
        """Write a source; return None when gone or changed from `was`. `Taken` for a taken name or slug."""
        ...

    async def remove(self, source_id: int, uses: str | None = None) -> bool:
        """Delete a source, only while it has these uses if given; its schedules and runs stay."""
        ...


class FailingSourceStore(Protocol):
    """Sources in trouble."""

    async def find(self, *, limit: int) -> list[FailingSource]:
        """Return sources whose last runs failed, the one with most failures first."""
        ...


class SourceNameStore(Protocol):
    """Names of sources by their public ids."""

    async def of_refs(self, refs: Collection[str]) -> dict[str, str]:
        """Return the names of the sources with these public ids, those that exist, as `SourceStore.get_by_ref` does."""
        ...


class RemoteSourceStore(Protocol):
    """Sources of a remote source manager, and reports for it. The rules are in `model/sources/remote_source.py`."""

    async def get(self, ref: str) -> SourceRow | None:
        """Return one source by its id at the source manager."""
        ...

    async def take(self, sources: Sequence[RemoteSource], asked_at: int) -> int:
        """Save the source manager's sources, new and known; return the number of changed sources.

        Changes made here after `asked_at` are newer than the source manager's answer, and stay. A local source with the
        name of a new remote source becomes the remote source.
        """
        ...

    async def present(self) -> list[str]:
        """Return the source manager's ids of all sources that the source manager is known to have."""
        ...

    async def withdraw(self, refs: Collection[str]) -> None:
        """Mark sources as gone at the source manager; they return when the source manager lists them again."""
        ...

    async def claim(self, limit: int, hold_ms: int) -> list[SourceRow]:
        """Claim sources with feed changes to report to the source manager; no other process gets them meanwhile."""
        ...

    async def release(self, sources: Sequence[SourceRow]) -> None:
        """Release claimed sources after a failed report: any process may retry."""
        ...

    async def mark_reported(self, source: SourceRow) -> None:
        """Record that the source manager has this row's feed state; later changes are still to be reported."""
        ...


class SourceVersionStore(Protocol):
    """Versions of sources: each change of a source, or of the state of a run of its catalogue, has a larger one.

    Sources are counted in parts; versions of one part rise in the order of commits.
    """

    async def get(self, source_id: int | None) -> int:
        """Return the version of a source, or without an id that of all sources together; 0 before the first change."""
        ...

    async def parts(self) -> dict[int, int]:
        """Return the last version of each part."""
        ...

    async def after(self, seen: Mapping[int, int], limit: int) -> list[SourceChange]:
        """Return the sources that changed after the version of their part that was seen, by part and version."""
        ...


class HandledMessageStore(Protocol):
    """Ids of handled messages, kept for a while."""

    async def has(self, message_id: str) -> bool:
        """Return whether a message was handled."""
        ...

    def stores(self, message_id: str) -> ScheduleStores:
        """Return stores of schedules that record the message as handled in the transaction of each change.

        A change that returns nothing was overtaken by another process, and records nothing.
        """
        ...

    async def note(self, message_id: str) -> None:
        """Record a message as handled."""
        ...

    async def prune(self, age_ms: int) -> None:
        """Delete message ids of that age."""
        ...
