"""Streams outside of the platform: copies of what happens to manifests, and tasks of direct producers."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from longline.model.manifests.manifest import StreamName


class StreamRecord(msgspec.Struct, frozen=True):
    """A record for one of the streams."""

    stream: StreamName
    data: bytes


class ManifestStreams(Protocol):
    """The streams. Raises `Unavailable` when they cannot be reached."""

    async def positions(self) -> dict[str, int]:
        """Return the positions up to which the records were copied, by name."""
        ...

    async def append(
        self, records: Sequence[StreamRecord], was: Mapping[str, int], positions: Mapping[str, int | None]
    ) -> bool:
        """Add records and move positions, both or neither; return False when the positions are not `was` any more.

        A position of None is deleted.
        """
        ...

    async def publish(self, data: bytes) -> str:
        """Add a task, as a direct producer does; return its id in the stream."""
        ...

    async def set_up(self) -> list[str]:
        """Make the streams and their consumer groups; return the names of all streams."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
