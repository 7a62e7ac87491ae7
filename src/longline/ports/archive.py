"""Exports: what a run brought, as files for other programs."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.archive.export import ExportedFile


class Export(Protocol):
    """Files that are being written. Only `finish` puts them in place: what was broken off leaves none behind."""

    async def rows(self, noun: str, rows: Sequence[msgspec.Struct]) -> None:
        """Add rows of one shape to the files of a noun."""
        ...

    async def members(self, members: Sequence[bytes]) -> None:
        """Add records of the archive, each a gzip member of its own."""
        ...

    async def finish(self) -> list[ExportedFile]:
        """Put everything in place; which files there are now."""
        ...
