"""Segments: the archive's files."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.segment import SegmentRow


class Segments(Protocol):
    """Remembers archive files. A segment becomes `stored` in the report that names its pages (`Frontier.report`)."""

    async def begin(self, key: str, owner: int) -> int:
        """Say that a segment is about to be written; its id."""
        ...

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        """Segments that these owners, who are gone, began and never stored."""
        ...

    async def drop(self, segment_id: int) -> None:
        """Forget a segment that was never stored."""
        ...

    async def find(self, *, run_id: int | None = None) -> list[SegmentRow]:
        """Stored segments (with pages of that run), oldest first."""
        ...
