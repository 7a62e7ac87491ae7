"""Exports: pages and items of a run as files for other programs."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.exports.export import ExportedFile
from longline.model.search.item import ItemRow


class Export(Protocol):
    """Files of an export in progress. Only `finish` puts files in place: an interrupted export leaves none behind."""

    async def rows(self, noun: str, rows: Sequence[msgspec.Struct]) -> None:
        """Add rows of one shape to the files of a noun."""
        ...

    async def members(self, members: Sequence[bytes]) -> None:
        """Add archive records, each a gzip member of its own."""
        ...

    async def documents(self, documents: Sequence[tuple[str, str]]) -> None:
        """Add texts, each a file of its own, by their relative paths."""
        ...

    async def finish(self) -> list[ExportedFile]:
        """Put all files in place and return them."""
        ...


class ItemTables(Protocol):
    """Tables of items in the making. Only `finish` replaces the named files, each at once by a whole one."""

    async def add(self, items: Sequence[ItemRow]) -> None:
        """Add items to the tables of their kinds."""
        ...

    async def finish(self, kinds: Sequence[str]) -> list[ExportedFile]:
        """Put the tables of these kinds in place and return their files."""
        ...


class ItemStream(Protocol):
    """A pipe for items, as JSON lines."""

    async def write(self, items: Sequence[ItemRow]) -> None:
        """Write items; raise `BrokenPipeError` after the reader has gone."""
        ...
