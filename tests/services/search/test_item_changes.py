"""Numbers of changed and gone items from run to run; a page that fails for a while does not count as a change."""

from typing import Any

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.search.item import Made
from longline.ports.records import Records
from longline.services.search.item_changes import ChangeCounts, ItemChanges
from tests.drivers.records.world import get_run, running_run, visit

PLAN = CrawlPlan(("https://a.example/",)).text()


def shop(prices: dict[int, int], **answers: Any) -> dict[str, list[Made] | str]:
    pages: dict[str, list[Made] | str] = {f"/{n}": [("book", {"price": price})] for n, price in prices.items()}
    return pages | {f"/{name.removeprefix('n')}": answer for name, answer in answers.items()}


async def counts(records: Records, found: dict[str, list[Made] | str]) -> ChangeCounts | None:
    run = await running_run(records, seed="https://a.example/", plan=PLAN)
    await visit(records, run, found)
    return await ItemChanges(records.runs, records.item_changes).counts(await get_run(records, run.id))


async def test_a_second_run_counts_changes(records: Records):
    prices = {n: n for n in range(90)}
    assert await counts(records, shop(prices)) is None, "the first run has no other to compare with"
    assert await counts(records, shop(prices)) == ChangeCounts(0, 90, 0, 0, 0)
    prices |= {n: 1000 for n in range(7)}
    assert await counts(records, shop(prices | {90: 5})) == ChangeCounts(7, 83, 1, 0, 0)
    del prices[50]
    assert await counts(records, shop(prices, n51="404", n90="404")) == ChangeCounts(0, 88, 0, 3, 0)


async def test_a_page_that_fails_for_a_while_is_neither_gone_nor_new(records: Records):
    await counts(records, shop({1: 1, 2: 2}))
    assert await counts(records, shop({1: 1}, n2="http_5xx")) == ChangeCounts(0, 1, 0, 0, 1)
    assert await counts(records, shop({1: 1}, n2="reset")) == ChangeCounts(0, 1, 0, 0, 1)
    assert await counts(records, shop({1: 1, 2: 2})) == ChangeCounts(0, 2, 0, 0, 0)
    await counts(records, shop({1: 1}, n2="http_5xx"))
    assert await counts(records, shop({1: 1}, n2="410")) == ChangeCounts(0, 1, 0, 1, 0), "gone since two runs ago"
    assert await counts(records, shop({1: 1}, n2="410")) == ChangeCounts(0, 1, 0, 0, 0), (
        "an item is counted as gone once"
    )


async def test_two_runs_are_compared_item_by_item(records: Records):
    await counts(records, shop({1: 1, 2: 2, 3: 3, 4: 4}))
    await counts(records, shop({1: 1, 2: 20, 5: 5}, n3="404", n4="http_5xx"))
    changes = ItemChanges(records.runs, records.item_changes)
    first, second = await get_run(records, 1), await get_run(records, 2)
    found = [(d.change, d.item.url[-1], [f.after for f in d.fields]) async for d in changes.between(first, second)]
    assert sorted(found) == [("added", "5", []), ("changed", "2", [20]), ("gone", "3", []), ("unseen", "4", [])]
    assert found[-1][0] == "added"
    assert [d async for d in changes.between(first, first)] == []
