"""Items of a run, written at once and while the run goes on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.model.exports.export import ExportedFile
from longline.model.search.item import MAX_POSITION, ItemRow, RunItem
from longline.services.exports import item_tables
from longline.services.exports.item_tables import ItemWriter, LiveItems, check_kinds
from longline.testing.clock import FakeClock
from tests.engine.fakes import part


class Store:
    """Items of a run, by position."""

    def __init__(self, *kinds: str) -> None:
        self.items: list[RunItem] = []
        for kind in kinds:
            self.come(kind)

    def come(self, kind: str = "book") -> None:
        n = len(self.items) + 1
        facts: dict[str, Any] = {"hash": "", "kind": kind, "run_id": 1, "task_id": 1, "url": f"https://a.example/{n}"}
        self.items.append(RunItem(**facts, id=n, source_id=0, created_at=0, updated_at=0, position=n))

    async def of_run(self, _: int, *, after: int = 0, until: int = MAX_POSITION, limit: int = 100) -> list[RunItem]:
        return [item for item in self.items if after < item.position <= until][:limit]

    async def last_position(self, _: int) -> int:
        return len(self.items)


class Tables:
    """Tables that keep the positions of their written rows by kind; writing takes time."""

    def __init__(self, clock: FakeClock, seconds: float = 0.0) -> None:
        self._clock, self._seconds = clock, seconds
        self.written: list[dict[str, list[int]]] = []
        self._added: list[ItemRow] = []

    @contextmanager
    def open(self) -> Iterator["Tables"]:
        self._added = []
        yield self

    async def add(self, items: Sequence[ItemRow]) -> None:
        self._added += items

    async def finish(self, kinds: Sequence[str]) -> list[ExportedFile]:
        self._clock.advance(round(self._seconds * 1000))
        self.written.append({kind: [item.id for item in self._added if item.kind == kind] for kind in kinds})
        return [ExportedFile(kind, 0, len(self.written[-1][kind])) for kind in kinds]


class Pipe:
    """A pipe that may break."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.broken = False

    async def write(self, items: Sequence[ItemRow]) -> None:
        if self.broken:
            raise BrokenPipeError
        self.ids += [item.id for item in items]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(item_tables, "BATCH_SIZE", 2)


async def write(store: Store, *kinds: str) -> tuple[dict[str, list[int]], dict[str, int]]:
    tables = Tables(FakeClock())
    with tables.open() as opened:
        written = await ItemWriter(store, kinds).write_tables(1, opened)  # type: ignore[arg-type]  # a part of a store
    return tables.written[0], written.left_out


async def test_all_items_of_a_run_are_in_the_tables_of_their_kinds():
    assert await write(Store("b", "a", "b", "extraction", "b")) == ({"a": [2], "b": [1, 3, 5]}, {})
    assert await write(Store("b", "a", "b"), "b", "none") == ({"b": [1, 3]}, {})


async def test_items_of_the_default_parser_are_left_out_beside_others():
    assert await write(Store("page", "page")) == ({"page": [1, 2]}, {})
    assert await write(Store("page", "book")) == ({"book": [2]}, {"page": 1})
    assert await write(Store("page", "book"), "page", "book") == ({"book": [2], "page": [1]}, {})


async def test_a_sitemap_is_left_out_beside_other_items():
    assert await write(Store("sitemap", "book")) == ({"book": [2]}, {"sitemap": 1})
    assert await write(Store("sitemap", "page", "book")) == ({"book": [3]}, {"page": 1, "sitemap": 1})
    assert await write(Store("sitemap", "page")) == ({"page": [2]}, {"sitemap": 1})
    assert await write(Store("sitemap")) == ({"sitemap": [1]}, {})
    assert await write(Store("sitemap", "book"), "sitemap") == ({"sitemap": [1]}, {})


async def test_a_kind_without_an_item_is_refused_with_the_kinds_of_the_run():
    store = part(Store("book", "page", "book", "page", "book"))
    await check_kinds(store, 1, ())
    await check_kinds(store, 1, ("page", "book"))
    with pytest.raises(BadInput, match=r"run 1 has no items of the kind nokind; it has: book \(3\), page \(2\)"):
        await check_kinds(store, 1, ("book", "nokind"))
    with pytest.raises(BadInput, match="it has: no items at all"):
        await check_kinds(part(Store()), 1, ("book",))


def live(store: Store, clock: FakeClock, tables: Tables | None = None, pipe: Pipe | None = None) -> LiveItems:
    return LiveItems(ItemWriter(store), clock, tables.open if tables else None, pipe)  # type: ignore[arg-type]


async def test_tables_are_written_while_items_arrive_and_at_the_end():
    store, clock = Store("book"), FakeClock()
    tables = Tables(clock)
    writer = live(store, clock, tables)
    await writer.write_new(1)
    store.come()
    await writer.write_new(1)
    assert tables.written == [{"book": [1]}], "not before the interval has passed"
    clock.advance(1001)
    await writer.write_new(1)
    clock.advance(1001)
    await writer.write_new(1)
    assert tables.written[1:] == [{"book": [1, 2]}], "not again without a new item"
    assert [file.rows for file in (await writer.finish(1)).files] == [2]


async def test_tables_that_are_slow_to_write_are_written_rarely():
    store, clock = Store("book"), FakeClock()
    tables = Tables(clock, seconds=10)
    writer = live(store, clock, tables)
    for _ in range(1000):
        await writer.write_new(1)
        store.come()
        clock.advance(1000)
    assert 4 <= len(tables.written) <= 6


async def test_a_pipe_gets_every_item_once_in_order():
    store, pipe = Store("book", "author", "book"), Pipe()
    writer = live(store, FakeClock(), pipe=pipe)
    await writer.write_new(1)
    store.come()
    await writer.write_new(1)
    await writer.finish(1)
    assert pipe.ids == [1, 2, 3, 4]


async def test_a_broken_pipe_is_not_written_again():
    store, pipe = Store("book"), Pipe()
    writer = live(store, FakeClock(), pipe=pipe)
    pipe.broken = True
    await writer.write_new(1)
    assert writer.broken
    pipe.broken = False
    assert (await writer.finish(1)).files == ()
    assert pipe.ids == []
