"""Search requests for items."""

from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.model.search.query import Filters
from longline.ports.records import Records
from longline.services.search.item_search import Searches, SearchPage, SearchRequest
from tests.drivers.records.corpus import stored

TEXTS: list[dict[str, Any]] = [
    {"title": "Longline fishing", "body": "Hooks on one line."},
    {"title": "Trawling", "body": "A net, no hooks and no line."},
    {"title": "Rod", "body": "One hook.", "price": 5},
]


@pytest.fixture
async def searches(records: Records) -> Searches:
    await stored(records, TEXTS)
    await records.search.maintain()
    return Searches(records.search, records.items)


def titles(found: SearchPage) -> list[str]:
    return [hit.item.title for hit in found.hits]


async def test_hits_have_their_items_and_excerpts(searches: Searches):
    found = await searches.find(SearchRequest("line -net"))
    assert (titles(found), found.total, found.more, found.meant) == (["Longline fishing"], 1, False, None)
    assert [piece.text for piece in found.hits[0].excerpt if piece.wanted] == ["line"]
    assert found.hits[0].score > 0


async def test_words_of_lists_and_nested_values_are_found_and_shown(records: Records):
    nested = {"title": "Net", "body": "A net.", "tags": ["harbour", "bergen"], "shop": {"rows": [{"owner": "Ann Vik"}]}}
    await stored(records, [*TEXTS, nested])
    searches = Searches(records.search, records.items)
    for word in ("bergen", "vik"):
        found = await searches.find(SearchRequest(word))
        assert titles(found) == ["Net"]
        assert [piece.text.lower() for piece in found.hits[0].excerpt if piece.wanted] == [word]
    assert "net" in "".join(p.text for p in (await searches.find(SearchRequest("net"))).hits[0].excerpt).lower()


async def test_pages_filters_and_totals(searches: Searches):
    page = await searches.find(SearchRequest("hooks", limit=1))
    assert (len(page.hits), page.total) == (1, 2)
    assert titles(await searches.find(SearchRequest("", Filters(price_min=1)))) == ["Rod"]
    assert titles(await searches.find(SearchRequest("", sort="created", descending=False)))[0] == "Longline fishing"


async def test_misspelt_words_are_corrected(searches: Searches):
    found = await searches.find(SearchRequest("fishign longlien"))
    assert titles(found) == ["Longline fishing"]
    assert found.meant == "fishing longline"
    assert [piece.text for piece in found.hits[0].excerpt if piece.wanted] == []


async def test_words_without_a_match_find_nothing(searches: Searches):
    assert await searches.find(SearchRequest("zzzz")) == SearchPage((), 0)
    # Both words are in the index; no item has both, and neither is misspelt.
    assert await searches.find(SearchRequest("trawling fishing")) == SearchPage((), 0)


async def test_a_hit_without_its_item_is_left_out(searches: Searches, records: Records, peek):
    await peek.rows("DELETE FROM items WHERE title = 'Rod'")
    found = await searches.find(SearchRequest("hook"))
    assert "Rod" not in titles(found)


async def test_invalid_queries_are_refused(searches: Searches):
    with pytest.raises(BadInput):
        await searches.find(SearchRequest("-only"))
