"""The index on a cluster: the bulk protocol, both indexes, and the same answers as those of the database."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from longline.drivers.search import open_search
from longline.drivers.search.mapping import ITEMS, RAW_CONTENT
from longline.drivers.search.opensearch import OpenSearch
from longline.model.errors import Unavailable
from longline.model.search.document import document_id
from longline.model.search.item import SearchDocument
from longline.model.search.query import Filters, parse_query
from tests.drivers.search.cluster import Cluster, running


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with running(Cluster()) as cluster:
        yield cluster


@pytest.fixture
async def search(cluster: Cluster) -> AsyncIterator[OpenSearch]:
    opened = open_search([cluster.url])
    yield opened
    await opened.close()


def document(number: int, title: str = "", body: str = "", **facts: Any) -> SearchDocument:
    none: dict[str, Any] = dict.fromkeys(("price", "rating", "availability", "brand", "category"))
    usual = {"id": number, "hash": "h", "kind": "page", "source_id": 0, "run_id": 1, "task_id": 1, "fields": "{}"}
    times = {"created_at": 1_700_000_000_000 + number, "updated_at": 1_700_000_000_000 + number}
    text = {"url": f"https://a.example/{number}", "title": title, "body": body}
    return SearchDocument(**none | usual | times | text | facts)


async def found(search: OpenSearch, text: str, **how: Any) -> list[int]:
    query = parse_query(text, how.pop("filters", None), **how)
    matches = await search.query(query)
    return [match.id for match in matches.matches]


TEXTS = [
    document(1, "Longline fishing", "Hooks hang on one strong line in the deep sea."),
    document(2, "Trawling", "A net in the sea, deep and wide; no hook.", kind="note", brand="Acme"),
    document(3, "Café de l'Océan", "Le déjeuner de la mer.", price=5.0, rating=4.0),
    document(4, "Sea", "Deep.", price=2.0),
]


async def test_the_cluster_answers_like_the_database(search: OpenSearch):
    await search.index(TEXTS)
    assert set(await found(search, "deep sea")) == {1, 2, 4}
    assert await found(search, '"deep sea"') == [1]
    assert await found(search, "hook*") == [2, 1]
    assert await found(search, "sea -net") == [4, 1]
    assert await found(search, "CAFE ocean dejeuner") == [3]
    assert await found(search, "sea", filters=Filters(kind="note", brand="Acme")) == [2]
    assert await found(search, "", filters=Filters(price_min=2.0, price_max=4.0)) == [4]
    assert await found(search, "", filters=Filters(rating_min=4.0)) == [3]
    assert await found(search, "", sort="price", descending=False) == [4, 3, 1, 2]
    assert await found(search, "", limit=2, offset=1) == [3, 2]


async def test_documents_are_replaced(search: OpenSearch, cluster: Cluster):
    await search.index(TEXTS)
    await search.index([document(1, "new", "words")])
    assert await found(search, "hooks") == []
    assert sorted(cluster.texts["longline_items"]) == ["1", "2", "3", "4"]


async def test_indexes_are_made_once_and_strictly_before_the_first_write(search: OpenSearch, cluster: Cluster):
    article = document(1, kind="article", source_name="The Daily-News!")
    await search.index([article])
    await search.index([article])
    assert cluster.asked == [
        ("PUT", "/longline_items"),
        ("PUT", "/the_daily_news_raw_content"),
        ("POST", "/_bulk"),
        ("POST", "/_bulk"),
    ]
    assert cluster.indexes == {
        "longline_items": ITEMS["mappings"],
        "the_daily_news_raw_content": RAW_CONTENT["mappings"],
    }
    # Another process finds the indexes made.
    other = open_search([cluster.url])
    await other.index([article])
    await other.close()


FIELDS = {
    "author": "A",
    "og_type": "article",
    "published_date": "2026-01-02T03:04:05Z",
    "json_ld_data": {"jsonld_headline": "H", "jsonld_raw": {"publisher": "P"}, "odd": 1},
    "meta": {"page_type": "article", "odd": 1},
    "odd": "left out",
}


async def test_an_article_is_also_a_document_of_its_source(search: OpenSearch, cluster: Cluster):
    text = document(
        1, "T", "two words", kind="article", source_name="News", fields=msgspec.json.encode(FIELDS).decode()
    )
    await search.index([text, document(2, "not an article")])
    ((key, stored),) = cluster.texts["news_raw_content"].items()
    assert key == stored["id"] == document_id(text)
    assert stored["source_name"] == "News"
    assert (stored["raw_text"], stored["word_count"], stored["classification_status"]) == ("two words", 2, "pending")
    assert stored["json_ld_data"] == {"jsonld_headline": "H", "jsonld_raw": {"publisher": "P"}}
    assert stored["meta"]["page_type"] == "article"
    assert "odd" not in stored | stored["meta"]


async def test_a_cluster_without_room_is_unavailable_until_it_has_room(search: OpenSearch, cluster: Cluster):
    cluster.full = True
    with pytest.raises(Unavailable, match="no room"):
        await search.index(TEXTS)
    cluster.full = False
    await search.index(TEXTS)
    assert len(cluster.texts["longline_items"]) == 4


async def test_a_rejected_document_does_not_block_the_others(
    search: OpenSearch, cluster: Cluster, caplog: pytest.LogCaptureFixture
):
    cluster.indexes["longline_items"] = {"dynamic": "strict", "properties": {}}
    cluster.texts["longline_items"] = {}
    await search.index(TEXTS)
    assert "search engine rejected a document" in caplog.text


async def test_an_empty_index_has_no_matches(search: OpenSearch):
    assert await found(search, "sea") == []
    assert await search.nearest("sae") is None


async def test_a_misspelt_word_has_a_nearest_one(search: OpenSearch):
    await search.index(TEXTS)
    assert await search.nearest("hoosk") == "hooks"
    assert await search.nearest("zzz") is None


async def test_the_cluster_names_itself_and_its_failures(search: OpenSearch, cluster: Cluster):
    assert await search.check() == "opensearch 9.9.9"
    await search.maintain()
    cluster.trouble = [401]
    with pytest.raises(Unavailable, match="planted"):
        await search.check()
    cluster.trouble = [500]
    with pytest.raises(Unavailable, match="planted"):
        await search.query(parse_query("x"))
    cluster.trouble = [403]
    with pytest.raises(Unavailable, match="cannot be made"):
        await search.index(TEXTS)
