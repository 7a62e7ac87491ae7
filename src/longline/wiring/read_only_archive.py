"""The archive of a data folder, opened by commands that read: they create nothing, and need no write permission."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from longline.drivers.blobs import open_blobs
from longline.drivers.clock import SystemClock
from longline.drivers.records import is_write_protected, open_records
from longline.engine.search.indexer import Indexer
from longline.model.errors import Unavailable
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records import Records
from longline.ports.search import Search
from longline.settings import Settings
from longline.wiring.platform import open_index

_SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Archive:
    """The engines that hold pages and items. `writable` is whether the index may be brought up to date."""

    settings: Settings
    clock: Clock
    records: Records
    blobs: Blobs
    search: Search
    writable: bool

    @property
    def indexer(self) -> Indexer:
        """Return the chore that brings the index up to date."""
        return Indexer(self.records.items, self.search, self.settings.index_batch)


@asynccontextmanager
async def open_archive(settings: Settings, *, write: bool = False) -> AsyncIterator[Archive]:
    """Open the archive for reading; with `write`, for writing where this user may write.

    Raises `NotFound` for a folder without a database, and `Unavailable` for tables of another version.
    """
    clock, writable = SystemClock(), write and _may_write(settings.database)
    async with AsyncExitStack() as stack:
        records = await open_records(settings.database, clock, read_only=not writable)
        stack.push_async_callback(records.schema.close)
        if behind := await records.schema.pending():
            raise Unavailable(f"the database is {len(behind)} migrations behind; run: longline migrate")
        search = open_index(settings, records)
        stack.push_async_callback(search.close)
        yield Archive(settings, clock, records, open_blobs(settings.objects), search, writable)


def _may_write(database: str) -> bool:
    """Return whether a database exists and may be written; a server decides for itself."""
    is_there = not database.startswith(_SQLITE) or Path(database.removeprefix(_SQLITE)).is_file()
    return is_there and not is_write_protected(database)
