"""Versions of items on both engines: what each run found stays as it was, and what did not change is not written."""

from typing import Any

from longline.model.runs.run import RunRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import get_run, running_run, visit


def book(price: int, title: str = "Rod", **fields: Any) -> tuple[str, dict[str, Any]]:
    return "book", {"title": title, "price": price} | fields


async def found(records: Records, run: RunRow) -> dict[str, list[float | None]]:
    """The prices that a run found, by URL, in the order of the run."""
    prices: dict[str, list[float | None]] = {}
    for item in await records.items.of_run(run.id):
        prices.setdefault(item.url.removeprefix("https://a.example"), []).append(item.price)
    return prices


async def test_each_run_has_what_it_found(records: Records, clock: FakeClock, peek: Peek):
    first = await running_run(records)
    await visit(records, first, {"/1": [book(5)], "/2": [book(7)]})
    clock.advance(5)
    second = await running_run(records)
    await visit(records, second, {"/1": [book(6)], "/2": [book(7)]})
    assert await found(records, first) == {"/1": [5], "/2": [7]}
    assert await found(records, second) == {"/1": [6], "/2": [7]}
    assert await peek.rows("SELECT version, price, run_id FROM item_versions") == [(1, 5.0, first.id)]
    old, new = (await records.items.of_run(first.id))[0], (await records.items.of_run(second.id))[0]
    assert (old.id, old.version, new.version) == (new.id, 1, 2)
    assert (old.created_at, old.updated_at) == (new.created_at, new.created_at)
    assert new.updated_at == old.updated_at + 5000


async def test_what_did_not_change_costs_no_row_and_no_write(records: Records, peek: Peek):
    first, second = await running_run(records), await running_run(records)
    await visit(records, first, {f"/{n}": [book(n)] for n in range(20)})
    before = await peek.snapshot()
    await visit(records, second, {f"/{n}": [book(n)] for n in range(20)})
    after = await peek.snapshot()
    assert after["items"] == before["items"]
    assert (len(after["item_versions"]), len(after["run_items"])) == (0, 2), "one row for each report"
    assert await found(records, second) == {f"/{n}": [n] for n in range(20)}
    assert {(item.run_id, item.version) for item in await records.items.of_run(second.id)} == {(second.id, 1)}
    assert (await get_run(records, second.id)).indexed == 20


async def test_an_item_on_two_pages_is_one_item_of_its_run(records: Records, peek: Peek):
    first = await running_run(records)
    shared = book(5, url="https://a.example/x")
    await visit(records, first, {"/1": [shared]}, {"/2": [book(9), shared]})
    assert await found(records, first) == {"/x": [5], "/2": [9]}
    assert (await get_run(records, first.id)).indexed == 2
    assert await peek.rows("SELECT items FROM pages ORDER BY task_id") == [("[[1,1]]",), ("[[2,1],[-1,1]]",)]
    second = await running_run(records)  # the pages come in the other order
    await visit(records, second, {"/2": [book(9), shared]}, {"/1": [shared]})
    third = await running_run(records)
    await visit(records, third, {"/1": [shared], "/2": [book(9), shared]})
    for run in (first, second, third):
        assert await found(records, run) == {"/x": [5], "/2": [9]}
        assert (await get_run(records, run.id)).indexed == 2
    assert await peek.value("SELECT COUNT(*) FROM item_versions") == 0


async def test_an_item_that_changes_within_a_run_is_as_the_run_saw_it_last(records: Records, peek: Peek):
    run = await running_run(records)
    one, other = book(5, url="https://a.example/x"), book(6, url="https://a.example/x")
    await visit(records, run, {"/1": [one, book(1)]}, {"/2": [other]})
    assert await found(records, run) == {"/1": [1], "/x": [6]}
    assert (await get_run(records, run.id)).indexed == 2
    assert await peek.rows("SELECT items FROM pages ORDER BY task_id") == [
        ("[[-1,1],[2,1]]",),
        (f"[[1,2,{await now(peek)}]]",),
    ]
    assert await peek.rows("SELECT version, price FROM item_versions") == [(1, 5.0)]


async def now(peek: Peek) -> Any:
    return await peek.value("SELECT MAX(updated_at) FROM items")


async def test_a_key_of_a_parser_is_the_same_item_on_any_page(records: Records):
    first, second = await running_run(records, seed="s"), await running_run(records, seed="s")
    await visit(records, first, {"/1": [("book", {"title": "Rod"}, "isbn-1"), ("book", {"title": "Net"}, ("isbn", 2))]})
    await visit(
        records, second, {"/2": [("book", {"title": "Rod"}, "isbn-1"), ("book", {"title": "Nets"}, ("isbn", 2))]}
    )
    before, after = await records.items.of_run(first.id), await records.items.of_run(second.id)
    assert [item.id for item in before] == [item.id for item in after]
    assert [item.name for item in after] == ["isbn-1", "isbn / 2"]
    assert [item.url[-2:] for item in after] == ["/2", "/2"], "the page of such an item is part of it"
    assert [item.title for item in before] == ["Rod", "Net"]


async def test_keys_of_parsers_belong_to_the_crawls_of_one_seed(records: Records):
    runs = [await running_run(records, seed=seed) for seed in ("one", "two", "one")]
    for run in runs:
        await visit(records, run, {"/1": [("book", {"title": "Rod"}, "1")]})
    ids = [[item.id for item in await records.items.of_run(run.id)] for run in runs]
    assert ids[0] == ids[2] != ids[1]
