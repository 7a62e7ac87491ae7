"""Items of a run as tables and as a stream, written at once or while the run goes on."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import msgspec

from longline.model.errors import BadInput
from longline.model.exports.export import BUILT_IN_KINDS, ExportedFile, TableFile
from longline.model.search.item import UNINDEXED_KINDS, RunItem
from longline.ports.clock import Clock
from longline.ports.exports import ItemStream, ItemTables
from longline.ports.records.search import ItemStore

BATCH_SIZE = 500

OpenTables = Callable[[], AbstractContextManager[ItemTables]]

MIN_WRITE_INTERVAL_SECONDS = 1.0
"""Shortest time between two writings of the tables of a running crawl."""

MAX_WRITE_SHARE = 0.05
"""Largest share of the time of a crawl that is spent on tables, which are written as a whole each time."""


class ItemOutputs(msgspec.Struct, frozen=True):
    """The places that a person named for the items of a run: files, and standard output if `stream`."""

    files: tuple[TableFile, ...] = ()
    stream: bool = False
    kinds: tuple[str, ...] = ()


class WrittenTables(msgspec.Struct, frozen=True):
    """The files of tables, and the number of items of each kind that was left out."""

    files: tuple[ExportedFile, ...] = ()
    left_out: dict[str, int] = {}


class ItemWriter:
    """A writer of the items of a run, of all kinds or of these `kinds`."""

    def __init__(self, items: ItemStore, kinds: Sequence[str] = ()) -> None:
        self._items, self._kinds = items, frozenset(kinds)

    async def write_tables(self, run_id: int, tables: ItemTables) -> WrittenTables:
        """Write the items that the run has now, each once.

        Items of parsers that were not asked for are left out where other items are, unless their kind was asked for.
        """
        counts: Counter[str] = Counter()
        after, until = 0, await self._items.last_position(run_id)
        while items := await self._items.of_run(run_id, after=after, until=until, limit=BATCH_SIZE):
            wanted = self._wanted(items)
            counts.update(item.kind for item in wanted)
            await tables.add(wanted)
            after = items[-1].position
        left_out = self._left_out(counts)
        files = await tables.finish(sorted(counts.keys() - set(left_out)))
        return WrittenTables(tuple(files), {kind: counts[kind] for kind in left_out})

    async def write_stream(self, run_id: int, stream: ItemStream, after: int = 0) -> int:
        """Write the items behind a position, in the order in which they came; return the last position."""
        while items := await self._items.of_run(run_id, after=after, limit=BATCH_SIZE):
            await stream.write(self._wanted(items))
            after = items[-1].position
        return after

    async def last_position(self, run_id: int) -> int:
        """Return the position of the item that came last in a run."""
        return await self._items.last_position(run_id)

    def _left_out(self, counts: Counter[str]) -> list[str]:
        found = [kind for kind in BUILT_IN_KINDS if kind in counts and kind not in self._kinds]
        return found if len(found) < len(counts) else found[1:]

    def _wanted(self, items: Sequence[RunItem]) -> list[RunItem]:
        if self._kinds:
            return [item for item in items if item.kind in self._kinds]
        return [item for item in items if item.kind not in UNINDEXED_KINDS]


async def check_kinds(items: ItemStore, run_id: int, kinds: Sequence[str]) -> None:
    """Raise `BadInput`, with the kinds that there are, for a kind of which a run has no item."""
    found: Counter[str] = Counter()
    after = 0
    while set(kinds) - found.keys() and (batch := await items.of_run(run_id, after=after, limit=BATCH_SIZE)):
        found.update(item.kind for item in batch)
        after = batch[-1].position
    if missing := [kind for kind in kinds if kind not in found]:
        there = ", ".join(f"{kind} ({count:,})" for kind, count in found.most_common()) or "no items at all"
        raise BadInput(f"run {run_id} has no items of the kind {' or '.join(missing)}; it has: {there}")


class LiveItems:
    """The items of a run that is going on, in tables and in a stream.

    Tables are written as a whole, the more rarely the longer that takes. The database has all items: after a kill the
    next process writes the same tables, and its stream begins with the first item.
    """

    def __init__(
        self, writer: ItemWriter, clock: Clock, open_tables: OpenTables | None, stream: ItemStream | None
    ) -> None:
        self._writer, self._clock = writer, clock
        self._open_tables, self._stream = open_tables, stream
        self._streamed, self._written, self._next_at = 0, 0, 0.0
        self.broken = False

    async def write_new(self, run_id: int) -> None:
        """Write the items that have come since the last call, tables only if their time has come."""
        await self._write_stream(run_id)
        if self._open_tables is None or self._clock.monotonic() < self._next_at:
            return
        last = await self._writer.last_position(run_id)
        if last != self._written:
            await self._write_tables(run_id)
            self._written = last

    async def finish(self, run_id: int) -> WrittenTables:
        """Write all items of the run that are not written yet, and the tables as they are now."""
        await self._write_stream(run_id)
        return await self._write_tables(run_id)

    async def _write_tables(self, run_id: int) -> WrittenTables:
        if self._open_tables is None:
            return WrittenTables()
        begun = self._clock.monotonic()
        with self._open_tables() as tables:
            written = await self._writer.write_tables(run_id, tables)
        took = self._clock.monotonic() - begun
        self._next_at = begun + took + max(MIN_WRITE_INTERVAL_SECONDS, took / MAX_WRITE_SHARE)
        return written

    async def _write_stream(self, run_id: int) -> None:
        if self._stream is None or self.broken:
            return
        try:
            self._streamed = await self._writer.write_stream(run_id, self._stream, self._streamed)
        except BrokenPipeError:
            # The reader has all the items that it wants, as `head` has.
            self.broken = True
