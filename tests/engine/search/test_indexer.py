"""The index stage: every waiting item is indexed, also after failures."""

from collections.abc import Sequence

import pytest

from longline.engine.search.indexer import Indexer
from longline.model.errors import Unavailable
from longline.model.search.item import Origin, SearchDocument, new_items
from longline.model.search.query import parse_query
from longline.ports.records import Records
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import queued_run


async def put(records: Records, amount: int, word: str = "hook") -> None:
    run = await queued_run(records)
    for n in range(amount):
        await records.items.put(
            new_items([("page", {"title": f"t{n}", "body": word})], Origin(run.id, n, f"https://a.example/{n}"))
        )


async def found(records: Records, text: str) -> int:
    return (await records.search.query(parse_query(text))).total


class Recorded:
    """An index that keeps the sizes of its batches, and fails on demand."""

    def __init__(self, records: Records) -> None:
        self.real, self.batches, self.fails = records.search, [], False  # type: ignore[var-annotated]

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        if self.fails:
            raise Unavailable("the index is away")
        self.batches.append(len(documents))
        await self.real.index(documents)

    async def tidy(self) -> None:
        await self.real.maintain()


async def test_all_waiting_items_are_indexed_in_batches(records: Records):
    await put(records, 7)
    search = Recorded(records)
    assert await Indexer(records.items, search, 3).once() == 7  # type: ignore[arg-type]
    assert search.batches == [3, 3, 1]
    assert await found(records, "hook") == 7
    assert await Indexer(records.items, records.search).once() == 0


async def test_items_wait_while_the_index_is_down(records: Records):
    await put(records, 2)
    search = Recorded(records)
    indexer = Indexer(records.items, search)  # type: ignore[arg-type]
    search.fails = True
    with pytest.raises(Unavailable):
        await indexer.once()
    assert await records.items.waiting() == 2
    search.fails = False
    assert await indexer.once() == 2


async def test_a_crash_after_indexing_repeats_the_batch_and_changes_nothing(records: Records):
    await put(records, 2)
    # The index has them, and the process dies before they are marked as indexed.
    await records.search.index(await records.items.unindexed(10))
    assert await found(records, "hook") == 2
    assert await Indexer(records.items, records.search).once() == 2
    assert await found(records, "hook") == 2


async def test_a_changed_item_is_found_by_its_new_words_only(records: Records, clock):
    indexer = Indexer(records.items, records.search)
    await put(records, 1, "hook")
    await indexer.once()
    clock.advance(1)
    await put(records, 1, "net")
    await indexer.once()
    await indexer.maintain()
    assert (await found(records, "hook"), await found(records, "net")) == (0, 1)
