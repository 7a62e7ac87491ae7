"""Versions of items on both engines: the items of each run stay unchanged, and unchanged items are not written."""

from typing import Any

import pytest

from longline.drivers.records.postgres import PostgresTransaction
from longline.model.runs.run import RunRow
from longline.model.search.item import ItemsPut, Origin, new_items
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import DELAY, ME, TTL, ended, get_run, page, running_run, visit


def book(price: int, title: str = "Rod", **fields: Any) -> tuple[str, dict[str, Any]]:
    return "book", {"title": title, "price": price} | fields


async def found(records: Records, run: RunRow) -> dict[str, list[float | None]]:
    """Return the prices that a run found, by URL, in the order of the run."""
    prices: dict[str, list[float | None]] = {}
    for item in await records.items.of_run(run.id):
        prices.setdefault(item.url.removeprefix("https://a.example"), []).append(item.price)
    return prices


async def test_each_run_has_the_items_that_it_found(records: Records, clock: FakeClock, peek: Peek):
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


async def test_an_unchanged_item_costs_no_row_and_no_write(records: Records, peek: Peek):
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
    second = await running_run(records)  # the pages are reported in the other order
    await visit(records, second, {"/2": [book(9), shared]}, {"/1": [shared]})
    third = await running_run(records)
    await visit(records, third, {"/1": [shared], "/2": [book(9), shared]})
    for run in (first, second, third):
        assert await found(records, run) == {"/x": [5], "/2": [9]}
        assert (await get_run(records, run.id)).indexed == 2
    assert await peek.value("SELECT COUNT(*) FROM item_versions") == 0


async def test_an_item_that_changes_within_a_run_has_its_last_state(records: Records, peek: Peek):
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


async def test_a_run_counts_its_present_items_beside_those_that_its_crawl_brought(records: Records):
    run = await running_run(records)
    shared = book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared, book(1), book(2)], "/2": [shared, book(3)], "/3": []})
    pages = {page.url.removeprefix("https://a.example"): page for page in await records.pages.of_run(run.id)}

    async def parse_again(**pages_now: list[Any]) -> tuple[int, int, int]:
        parsed = [(pages[f"/{path[1:]}"], made) for path, made in pages_now.items()]
        made = [new for page, items in parsed for new in new_items(items, Origin(run.id, page.task_id, page.url))]
        await records.items.put(made, [page for page, _ in parsed])
        row = await get_run(records, run.id)
        return row.indexed, row.items, len(await records.items.of_run(run.id))

    assert await parse_again() == (4, 4, 4)
    assert await parse_again(p1=[shared, book(1)]) == (4, 3, 3), "an item is dropped"
    assert await parse_again(p1=[shared, book(1)], p2=[shared, book(3)]) == (4, 3, 3), "nothing has changed"
    assert await parse_again(p1=[], p2=[shared, book(7), book(8)]) == (4, 3, 3), "an item moves to another page"
    assert await parse_again(p3=[book(n) for n in range(5)], p1=[shared]) == (4, 8, 8)
    assert await parse_again(p1=[], p2=[], p3=[]) == (4, 0, 0)
    assert await parse_again(p2=[shared]) == (4, 1, 1), "the items are found again"


async def test_a_page_that_is_fetched_again_in_its_run_counts_with_its_present_items(
    records: Records, clock: FakeClock
):
    run = await running_run(records)
    await visit(records, run, {"/1": [book(1), book(2), book(3)], "/2": [book(4)]})
    await restart(records, run, clock)
    await visit(records, run, {"/1": [book(1), book(2)], "/2": []})
    row = await get_run(records, run.id)
    assert (row.indexed, row.items, len(await records.items.of_run(run.id))) == (4, 2, 2)


async def test_a_page_that_was_stored_anew_keeps_its_items_and_not_those_of_its_former_body(
    records: Records, clock: FakeClock, peek: Peek
):
    run = await running_run(records)
    await visit(records, run, {"/1": [book(1)], "/2": [book(2)], "/3": [book(3)]})
    former = await records.pages.of_run(run.id)
    await restart(records, run, clock, "/1", "/2")
    await visit(records, run, {"/1": [book(9)], "/2": None})
    made = [
        new
        for stored, price in zip(former, (1, 7, 8), strict=True)
        for new in new_items([book(price)], Origin(run.id, stored.task_id, stored.url))
    ]
    assert await records.items.put(made, former) == ItemsPut(1, frozenset(p.task_id for p in former[:2]))
    assert await found(records, run) == {"/1": [9], "/2": [2], "/3": [8]}
    assert {item.price for item in await records.items.newest(None, None, 10)} == {9, 2, 8}
    assert await records.items.put(made, await records.pages.of_run(run.id)) == ItemsPut(2)
    assert await found(records, run) == {"/1": [1], "/2": [7], "/3": [8]}
    assert await faults(peek, clock.now()) == []


async def restart(records: Records, run: RunRow, clock: FakeClock, *paths: str) -> None:
    """Restart the task of every page of a run, or of the pages at these paths."""
    every = await records.pages.of_run(run.id)
    for stored in [each for each in every if not paths or each.url.removeprefix("https://a.example") in paths]:
        await records.moves.apply(Change("task", stored.task_id, "restart", "completed", "pending", "person"))
    clock.advance(DELAY / 1000)


async def test_a_page_that_waits_for_its_parser_keeps_its_items(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await visit(records, run, {"/1": [book(1), book(2), book(3)]})
    await restart(records, run, clock)
    await visit(records, run, {"/1": None})
    row = await get_run(records, run.id)
    assert (row.items, len(await records.items.of_run(run.id))) == (3, 3)
    assert await faults(peek, clock.now()) == []
    (taken,) = await records.hands.take("parse", ME, 10, TTL)
    parsed = ended(taken.task, page=page())
    made = new_items([book(1)], Origin(run.id, taken.task.id, taken.task.url))
    assert not (await records.hands.give([(taken.token, parsed)], ReportBatch(items=made))).refused
    assert await found(records, run) == {"/1": [1]}
    assert (await get_run(records, run.id)).items == 1


async def test_an_item_of_a_page_that_waits_for_its_parser_is_listed_once(
    records: Records, clock: FakeClock, peek: Peek
):
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared], "/2": []})
    await restart(records, run, clock)
    await visit(records, run, {"/1": None, "/2": [shared]})
    assert await found(records, run) == {"/x": [5]}
    assert (await get_run(records, run.id)).items == 1
    assert await faults(peek, clock.now()) == []


async def parse(records: Records, run: RunRow, *made: Any) -> None:
    """Let a worker parse the only page that waits for its parser."""
    (taken,) = await records.hands.take("parse", ME, 10, TTL)
    items = new_items(made, Origin(run.id, taken.task.id, taken.task.url))
    given = [(taken.token, ended(taken.task, page=page()))]
    assert not (await records.hands.give(given, ReportBatch(items=items))).refused


async def test_an_item_that_a_parsed_page_drops_stays_with_the_page_that_brought_it_meanwhile(
    records: Records, clock: FakeClock, peek: Peek
):
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared, book(1)], "/2": []})
    await restart(records, run, clock)
    await visit(records, run, {"/1": None, "/2": [shared]})
    await parse(records, run, book(1))
    assert await found(records, run) == {"/1": [1], "/x": [5]}
    row = await get_run(records, run.id)
    assert (row.items, row.indexed) == (2, 2)
    assert await faults(peek, clock.now()) == []


async def test_an_item_that_its_first_page_drops_is_listed_by_a_page_that_has_it_too(
    records: Records, clock: FakeClock, peek: Peek
):
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared], "/2": [shared, book(2)], "/3": [shared], "/4": []})
    read = await records.items.last_position(run.id)
    for last in ("/3", "/1"):
        assert await found(records, run) == {"/x": [5], "/2": [2]}
        await restart(records, run, clock, last)
        await visit(records, run, {last: []})
        assert await faults(peek, clock.now()) == []
    assert await found(records, run) == {"/x": [5], "/2": [2]}
    assert [item.price for item in await records.items.of_run(run.id, after=read)] == [5], "the item is read again"
    await restart(records, run, clock, "/4")
    await visit(records, run, {"/4": [shared]})
    assert await found(records, run) == {"/x": [5], "/2": [2]}, "the run has the page with the item"
    await restart(records, run, clock, "/2", "/4")
    await visit(records, run, {"/2": [], "/4": []})
    assert await found(records, run) == {}
    assert (await get_run(records, run.id)).items == 0
    assert await faults(peek, clock.now()) == []


async def test_an_item_that_its_first_page_drops_has_the_fields_of_the_other_page(
    records: Records, clock: FakeClock, peek: Peek
):
    run = await running_run(records)
    one, other = book(5, url="https://a.example/x"), book(6, url="https://a.example/x")
    await visit(records, run, {"/1": [one, book(1)]}, {"/2": [other]})
    await restart(records, run, clock, "/2")
    await visit(records, run, {"/2": []})
    assert await found(records, run) == {"/1": [1], "/x": [5]}
    assert await faults(peek, clock.now()) == []


async def test_an_item_that_a_page_drops_and_brings_within_a_millisecond_is_listed_once(records: Records, peek: Peek):
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared], "/2": [shared]})
    stored = await records.pages.of_run(run.id)
    for _ in range(3):
        for each in stored:
            for made in ([], [shared]):
                await records.items.put(new_items(made, Origin(run.id, each.task_id, each.url)), [each])
                assert await found(records, run) == {"/x": [5]}
                assert (await get_run(records, run.id)).items == 1


LATER = "SELECT task_id, item_id, version FROM item_pages ORDER BY task_id, item_id"


async def test_the_pages_that_list_an_item_after_another_page_are_noted_as_long_as_they_list_it(
    records: Records, clock: FakeClock, peek: Peek
):
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    await visit(records, run, {"/1": [shared, book(1)]}, {"/2": [shared, book(2)]}, {"/3": [shared]})
    one, two, three = [page.task_id for page in await records.pages.of_run(run.id)]
    item = await peek.value("SELECT id FROM items WHERE url = 'https://a.example/x'")
    assert await peek.rows(LATER) == [(two, item, 1), (three, item, 1)]
    await restart(records, run, clock, "/2")
    await visit(records, run, {"/2": [shared]})
    assert await peek.rows(LATER) == [(two, item, 1), (three, item, 1)], "as before"
    await restart(records, run, clock, "/3")
    await visit(records, run, {"/3": [book(6, url="https://a.example/x")]})
    assert await peek.rows(LATER) == [(one, item, 1), (two, item, 1)], "the page that changes the item is the first"
    await restart(records, run, clock, "/1", "/2")
    await visit(records, run, {"/1": [], "/2": [book(6, url="https://a.example/x")]})
    assert await peek.rows(LATER) == [(two, item, 2)]
    await restart(records, run, clock, "/3")
    await visit(records, run, {"/3": []})
    assert await peek.rows(LATER) == []
    assert await found(records, run) == {"/x": [6]}
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_reports_without_shared_items_run_no_statement_for_them(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    sent, batch = [], PostgresTransaction.batch

    async def noted(self: PostgresTransaction, name: str, rows: Any, /, **params: Any) -> Any:
        sent.extend([name] * bool(rows))
        return await batch(self, name, rows, **params)

    monkeypatch.setattr(PostgresTransaction, "batch", noted)
    run, shared = await running_run(records), book(5, url="https://a.example/x")
    of_drops = {"pages_with_items", "list_item_pages", "unlist_item_pages", "lead_items", "relist_items"}
    await visit(records, run, {"/1": [shared, book(1)], "/2": [book(2)], "/3": [], "/4": [], "/5": []})
    await restart(records, run, clock, "/1", "/2", "/3")
    await visit(records, run, {"/1": [shared, book(3)], "/2": [book(2)], "/3": [book(4)]})
    assert of_drops.isdisjoint(sent)
    await restart(records, run, clock, "/4", "/5")
    await visit(records, run, {"/4": [shared], "/5": [shared]})
    assert [name for name in sent if name in of_drops] == ["list_item_pages"], "one statement for all pages of a report"
    sent.clear()
    await restart(records, run, clock, "/1", "/4", "/5")
    await visit(records, run, {"/4": [shared], "/5": [shared]}, {"/1": [shared, book(3)]})
    assert of_drops.isdisjoint(sent)


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
    assert [item.url[-2:] for item in after] == ["/2", "/2"], "an item without a key includes its page"
    assert [item.title for item in before] == ["Rod", "Net"]


async def test_keys_of_parsers_belong_to_the_crawls_of_one_seed(records: Records):
    runs = [await running_run(records, seed=seed) for seed in ("one", "two", "one")]
    for run in runs:
        await visit(records, run, {"/1": [("book", {"title": "Rod"}, "1")]})
    ids = [[item.id for item in await records.items.of_run(run.id)] for run in runs]
    assert ids[0] == ids[2] != ids[1]
