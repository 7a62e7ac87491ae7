"""Exports: pages and items of a run as files for other programs."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.archive.export import ExportedFile


class Export(Protocol):
    """Files of an export in progress. Only `finish` puts files in place: an interrupted export leaves none behind."""

    async def rows(self, noun: str, rows: Sequence[msgspec.Struct]) -> None:
        """Add rows of one shape to the files of a noun."""
        ...

    async def members(self, members: Sequence[bytes]) -> None:
        """Add archive records, each a gzip member of its own."""
        ...

    async def finish(self) -> list[ExportedFile]:
        """Put all files in place and return them."""
        ...
