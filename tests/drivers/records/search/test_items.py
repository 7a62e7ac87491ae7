"""Items on both engines: items that are stored again keep their ids, and changed items wait for the index."""

import asyncio

import pytest

from longline.drivers.records import open_database
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.search.item_versions import put
from longline.model.search.item import NewItem, Origin, SearchDocument, new_items
from longline.model.search.query import SearchQuery, Term
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import queued_run, running_run, visit


def article(run_id: int, path: str = "/", title: str = "T", task_id: int = 1) -> NewItem:
    (item,) = new_items(
        [("article", {"title": title, "body": "B", "n": 1})], Origin(run_id, task_id, f"https://a.example{path}")
    )
    return item


async def found(records: Records, word: str) -> int:
    return (await records.search.query(SearchQuery((Term((word,)),)))).total


async def indexed(records: Records) -> list[SearchDocument]:
    """Mark every waiting item as indexed."""
    waiting = await records.items.unindexed(100)
    await records.items.indexed(waiting)
    return waiting


async def test_an_item_with_its_words_is_indexed_at_once(records: Records, clock: FakeClock):
    run = await queued_run(records)
    made = [("article", {"title": f"Rod {n}", "body": f"Café number{n}"}) for n in range(70)]
    items = new_items(made, Origin(run.id, 1, "https://a.example/"), in_words=True)
    assert (await records.items.put([*items, article(run.id, "/later")])).changed == 71
    assert [d.url for d in await records.items.unindexed(10)] == ["https://a.example/later"]
    assert await found(records, "cafe") == 70
    assert await found(records, "number69") == 1
    clock.advance(5)
    changed = new_items(
        [("article", {"title": "Rod 0", "body": "Net"})], Origin(run.id, 1, "https://a.example/"), in_words=True
    )
    assert (await records.items.put(changed)).changed == 1
    assert (await found(records, "cafe"), await found(records, "net")) == (69, 1)
    assert await records.items.waiting() == 1


async def test_a_page_is_an_item_of_every_source_that_has_it(records: Records):
    sources = [await records.sources.add(NewSource(name, "https://a.example/")) for name in ("one", "two")]
    runs = [await queued_run(records, source_id=source.id) for source in sources]
    assert (await records.items.put([article(run.id) for run in runs])).changed == 2
    assert {d.source_name for d in await records.items.unindexed(10)} == {"one", "two"}


async def test_an_item_is_read_back_unchanged(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("shop", "https://a.example/"))
    run = await queued_run(records, source_id=source.id)
    product = new_items(
        [("product", {"name": "Rod", "price": 5, "brand": "Acme"})], Origin(run.id, 7, "https://a.example/")
    )
    assert (await records.items.put(product)).changed == 1
    (document,) = await records.items.unindexed(10)
    (item,) = await records.items.get([document.id])
    assert document.source_name == "shop"
    assert (item.kind, item.source_id, item.run_id, item.task_id) == ("product", source.id, run.id, 7)
    assert (item.title, item.price, item.brand, item.rating) == ("Rod", 5.0, "Acme", None)
    assert item.created_at == item.updated_at == clock.now()


async def test_an_unchanged_item_keeps_its_times_and_does_not_wait(records: Records, clock: FakeClock):
    first, second = await queued_run(records), await queued_run(records)
    await records.items.put([article(first.id)])
    (before,) = await indexed(records)
    clock.advance(5)
    assert (await records.items.put([article(second.id, task_id=2)])).changed == 0
    (item,) = await records.items.get([before.id])
    assert (item.created_at, item.updated_at) == (before.created_at, before.updated_at)
    assert item.run_id == first.id, "the run of the last change"
    assert await records.items.waiting() == 0


async def test_a_changed_item_keeps_its_id_and_waits_again(records: Records, clock: FakeClock):
    run = await queued_run(records)
    await records.items.put([article(run.id)])
    (before,) = await indexed(records)
    clock.advance(5)
    assert (await records.items.put([article(run.id, title="U")])).changed == 1
    (after,) = await records.items.unindexed(10)
    assert (after.id, after.title, after.created_at) == (before.id, "U", before.created_at)
    assert after.updated_at == before.updated_at + 5000


async def test_a_change_during_indexing_is_not_lost(records: Records, clock: FakeClock):
    run = await queued_run(records)
    await records.items.put([article(run.id)])
    reading = await records.items.unindexed(10)
    clock.advance(5)
    await records.items.put([article(run.id, title="U")])
    await records.items.indexed(reading)
    assert [d.title for d in await records.items.unindexed(10)] == ["U"]


async def test_the_same_item_twice_in_one_batch_is_one(records: Records):
    run = await queued_run(records)
    assert (await records.items.put([article(run.id, title="T"), article(run.id, title="U")])).changed == 1
    assert [d.title for d in await records.items.unindexed(10)] == ["U"]


async def test_sources_do_not_share_items(records: Records):
    sources = [await records.sources.add(NewSource(name, "https://a.example/")) for name in ("a", "b")]
    for source in sources:
        run = await queued_run(records, source_id=source.id)
        await records.items.put([article(run.id)])
    assert await records.items.waiting() == 2


async def test_items_of_a_run_are_paged(records: Records):
    run, other = await queued_run(records), await queued_run(records)
    await records.items.put([article(run.id, f"/{n}") for n in range(5)] + [article(other.id, "/other")])
    first = await records.items.of_run(run.id, limit=3)
    rest = await records.items.of_run(run.id, after=first[-1].position, limit=3)
    assert [item.url for item in first + rest] == [f"https://a.example/{n}" for n in range(5)]
    assert [item.position for item in first + rest] == [1, 2, 3, 4, 5]
    assert [item.position for item in await records.items.of_run(run.id, after=1, until=3)] == [2, 3]
    assert await records.items.last_position(run.id) == 5


async def test_an_item_that_changes_goes_to_the_end_of_its_run(records: Records):
    run = await running_run(records)
    urls = [f"https://a.example/{n}" for n in range(3)]
    again = [("article", {"url": urls[2]}), ("article", {"url": urls[0], "title": "changed"})]
    await visit(records, run, {"/": [("article", {"url": url}) for url in urls]}, {"/again": again})
    found = await records.items.of_run(run.id)
    assert [(item.url[-1], item.position) for item in found] == [("1", 2), ("2", 3), ("0", 4)]


async def test_every_run_has_its_own_order(records: Records, clock: FakeClock):
    run, again = await queued_run(records), await queued_run(records)
    await records.items.put([article(run.id, f"/{n}") for n in range(3)])
    clock.advance(5)
    await records.items.put([article(again.id, f"/{n}") for n in (2, 0)])
    assert [item.url[-1] for item in await records.items.of_run(run.id)] == ["0", "1", "2"]
    assert [(i.url[-1], i.position) for i in await records.items.of_run(again.id)] == [("2", 1), ("0", 2)]


async def test_a_reader_of_positions_misses_no_item_of_concurrent_writers(records: Records):
    run = await queued_run(records)
    found: list[str] = []
    position = 0

    reading = asyncio.Lock()

    async def read() -> None:
        nonlocal position
        async with reading:
            for item in await records.items.of_run(run.id, after=position, limit=1000):
                found.append(item.url)
                position = item.position

    async def write(writer: int) -> None:
        for n in range(10):
            await records.items.put([article(run.id, f"/{writer}/{n}/{m}") for m in range(3)])
            await read()

    await asyncio.gather(*(write(writer) for writer in range(4)))
    await read()
    assert len(found) == len(set(found)) == 120
    assert position == 120


async def test_items_are_returned_in_the_requested_order(records: Records):
    run = await queued_run(records)
    await records.items.put([article(run.id, f"/{n}") for n in range(3)])
    ids = [item.id for item in await records.items.of_run(run.id)]
    assert [item.id for item in await records.items.get([ids[2], 99999, ids[0]])] == [ids[2], ids[0]]


async def test_items_are_part_of_their_transaction(records: Records, records_url: str, clock: FakeClock, peek: Peek):
    run = await queued_run(records)
    database = await open_database(records_url, clock)

    async def work(tx):
        assert (await put(tx, [article(run.id)], RunCounters())).changed == 1
        raise KeyError("something else of the report failed")

    with pytest.raises(KeyError):
        await database.transact(work)
    await database.close()
    assert await peek.value("SELECT COUNT(*) FROM items") == 0
    assert await peek.value("SELECT COUNT(*) FROM unindexed") == 0
