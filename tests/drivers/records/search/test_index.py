"""The index inside the database, on both engines: matches, their order, and filters."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longline.drivers.records.search import index as search_module
from longline.drivers.records.search import index_write
from longline.drivers.records.search.index import rendered
from longline.engine.search.indexer import Indexer
from longline.model.search.item import NewItem, Origin, SearchDocument, new_items
from longline.model.search.query import Filters, Match, SearchQuery, parse_query
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.corpus import OTHER_QUESTIONS, WORD_QUESTIONS, Answer, answers, sqlite, stored
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import queued_run


async def found(records: Records, text: str, **filters: object) -> list[int]:
    query = parse_query(text, Filters(**filters), limit=100)  # type: ignore[arg-type]
    matches = await records.search.query(query)
    assert matches.total == len(matches.matches)
    return [match.id for match in matches.matches]


def item_of(run_id: int, body: str, *, in_words: bool = False) -> list[NewItem]:
    return new_items([("page", {"body": body})], Origin(run_id, 1, "https://a.example/"), in_words=in_words)


async def given_texts(records: Records, *texts: tuple[str, str]) -> list[SearchDocument]:
    return await stored(records, [{"title": title, "body": body} for title, body in texts])


async def test_words_phrases_prefixes_and_exclusions(records: Records):
    a, b, c = [
        d.id
        for d in await given_texts(
            records,
            ("Longline fishing", "Hooks hang on one strong line in the deep sea."),
            ("Trawling", "A net in the sea, deep and wide; no hook."),
            ("Café de l'Océan", "Le déjeuner de la mer."),
        )
    ]
    assert set(await found(records, "deep sea")) == {a, b}
    assert await found(records, '"deep sea"') == [a]
    assert await found(records, '"sea deep"') == [b]
    assert set(await found(records, "hook*")) == {a, b}
    assert await found(records, "hook") == [b]
    assert await found(records, "sea -net") == [a]
    assert await found(records, 'sea -"deep sea"') == [b]
    assert await found(records, "CAFE ocean dejeuner") == [c]
    assert await found(records, "l’océan") == [c]
    assert await found(records, "deep mer") == []
    assert await found(records, '"strong li"*') == [a]


async def test_no_phrase_spans_the_title_and_the_text(records: Records):
    await given_texts(records, ("deep", "sea"))
    assert await found(records, '"deep sea"') == []
    assert len(await found(records, "deep sea")) == 1


async def test_a_word_in_the_title_counts_for_more(records: Records):
    filler = [("other", "nothing of the kind at all")] * 6
    body, title = [
        d.id
        for d in (
            await given_texts(records, ("about nets", "one hook and more"), ("about hook", "one net and more"), *filler)
        )[:2]
    ]
    await records.search.maintain()
    assert await found(records, "hook") == [title, body]


async def test_an_item_that_is_indexed_again_is_replaced(records: Records):
    (document,) = await given_texts(records, ("old", "words"))
    (again,) = await stored(records, [{"title": "new", "body": "text"}])
    assert document.id == again.id
    assert await found(records, "words") == []
    assert await found(records, "text") == [again.id]


async def test_a_changed_text_leaves_no_word_in_the_index(records: Records):
    await given_texts(records, ("Trawling", "with nets"), ("Old", "rods and hooks"))
    await stored(records, [{"title": "Trawling", "body": "with nets"}, {"title": "New", "body": "reels"}])
    await records.search.maintain()
    assert await records.search.nearest("hooks") != "hooks", "the word was removed from the vocabulary"
    assert await found(records, "nets") != []
    assert (await records.search.query(parse_query("reels"))).total == 1


async def test_a_text_that_is_indexed_twice_counts_once(records: Records):
    documents = await given_texts(records, ("one", "line"), ("two", "hooks"))
    once = await records.search.query(parse_query("line"))
    await records.search.index(documents)
    assert await records.search.query(parse_query("line")) == once


async def test_an_item_that_changes_during_its_indexing_waits_again(records: Records):
    run = await queued_run(records)
    await records.items.put(item_of(run.id, "early words"))
    read = await records.items.unindexed(10)
    await records.items.put(item_of(run.id, "late text"))
    await records.search.index(read)
    await records.items.indexed(read)
    await Indexer(records.items, records.search).once()
    assert await found(records, "early") == []
    assert len(await found(records, "late")) == 1
    await records.items.put(item_of(run.id, "latest text"))
    await Indexer(records.items, records.search).once()
    assert await found(records, "late") == []


async def test_an_item_that_was_indexed_with_a_report_waits_no_more(records: Records):
    run = await queued_run(records)
    await records.items.put(item_of(run.id, "early words"))
    await records.items.put(item_of(run.id, "late text", in_words=True))
    indexer = Indexer(records.items, records.search)
    assert await asyncio.wait_for(indexer.once(), 20) == 1
    assert len(await found(records, "late")) == 1


async def test_another_tokenizer_has_the_texts_of_sqlite_indexed_anew(
    records: Records, monkeypatch: pytest.MonkeyPatch, peek: Peek
):
    await given_texts(records, ("one", "line"), ("two", "hooks"))
    await records.schema.migrate()
    assert await records.items.waiting() == 0
    monkeypatch.setattr(index_write, "TOKENIZER", "other rules")
    await records.schema.migrate()
    assert await records.items.waiting() == (2 if peek.engine == "lite" else 0)
    await Indexer(records.items, records.search).once()
    assert len(await found(records, "hooks")) == 1


async def test_sqlite_keeps_a_text_once(records: Records, peek: Peek):
    await given_texts(records, ("one", "line"))
    if peek.engine == "lite":
        tables = {str(row[0]) for row in await peek.rows("SELECT name FROM sqlite_master WHERE name LIKE 'texts%'")}
        assert "texts_docsize" in tables
        assert "texts_content" not in tables


PRODUCTS: list[dict[str, Any]] = [
    {"name": "Rod", "price": 30, "rating": 4.5, "brand": "Acme", "availability": "in_stock", "category": "rods"},
    {"name": "Rod cheap", "price": 5, "rating": 2, "brand": "Bolt", "availability": "in_stock", "category": "rods"},
    {"name": "Rod old", "price": None, "brand": "Acme", "availability": "discontinued", "category": "rods"},
    {"name": "Reel", "price": 20, "rating": 4, "brand": "Acme", "availability": "in_stock", "category": "reels"},
]


async def test_filters_select_items(records: Records):
    rod, cheap, old, reel = [d.id for d in await stored(records, PRODUCTS, kind="product")]
    await given_texts(records, ("Rod of an article", "not for sale"))
    assert set(await found(records, "rod", kind="product")) == {rod, cheap, old}
    assert set(await found(records, "rod", brand="Acme")) == {rod, old}
    assert await found(records, "rod", price_min=10) == [rod]
    assert set(await found(records, "", price_min=5, price_max=20)) == {cheap, reel}
    assert set(await found(records, "", rating_min=4)) == {rod, reel}
    assert await found(records, "", category="reels") == [reel]
    assert set(await found(records, "", availability="in_stock", brand="Acme")) == {rod, reel}
    assert await found(records, "rod", kind="comment") == []


@pytest.mark.parametrize(
    ("sort", "descending", "names"),
    [
        ("price", False, ["Rod cheap", "Reel", "Rod", "Rod old"]),
        ("price", True, ["Rod", "Reel", "Rod cheap", "Rod old"]),
        ("rating", True, ["Rod", "Reel", "Rod cheap", "Rod old"]),
        ("created", True, ["Reel", "Rod old", "Rod cheap", "Rod"]),
        ("updated", False, ["Rod", "Rod cheap", "Rod old", "Reel"]),
    ],
)
async def test_sorting_puts_items_without_figure_last(records: Records, sort: str, descending: bool, names: list[str]):
    await stored(records, PRODUCTS, kind="product")
    matches = await records.search.query(parse_query("", sort=sort, descending=descending))
    items = await records.items.get([match.id for match in matches.matches])
    assert [item.title for item in items] == names
    said = await records.search.query(parse_query("rod", sort=sort, descending=descending))
    items = await records.items.get([match.id for match in said.matches])
    assert [item.title for item in items] == [name for name in names if "Rod" in name]


async def test_pages_follow_each_other_and_have_the_total(records: Records):
    await given_texts(records, *[(f"text {n}", "same words " + "more " * n) for n in range(7)])
    whole = await found(records, "words")
    for offset in (0, 3, 6, 9):
        page = await records.search.query(parse_query("words", limit=3, offset=offset))
        assert [m.id for m in page.matches] == whole[offset : offset + 3]
        assert page.total == 7


async def test_the_number_of_ranked_items_is_bounded_and_marked(
    records: Records, monkeypatch: pytest.MonkeyPatch, peek: Peek
):
    monkeypatch.setattr(search_module, "MAX_RANKED", 5)
    await given_texts(records, *[(f"text {n}", "same words") for n in range(7)])
    matches = await records.search.query(parse_query("words", limit=100))
    assert (matches.total, matches.more) == ((5, True) if peek.engine == "pg" else (7, False))


async def test_a_frequent_word_is_searched_in_the_newest_items_first(
    records: Records, monkeypatch: pytest.MonkeyPatch, peek: Peek
):
    monkeypatch.setattr(search_module, "ENOUGH", 3)
    texts = [(f"text {n}", "same words") for n in range(6)]
    await given_texts(records, *texts)
    if peek.engine == "pg":
        await peek.rows(f"ALTER TABLE items ALTER id RESTART WITH {3 << search_module.SLICE_BITS}")
    later = await stored(records, [{"title": title, "body": body} for title, body in texts], kind="later")
    ids = [document.id for document in later]
    await records.search.maintain()
    few = await records.search.query(parse_query("words", limit=3))
    many = await records.search.query(parse_query("words", limit=7))
    assert len(many.matches) == 7
    assert (many.total, many.more) == (12, False), "the newest had too few, so the index was searched"
    if peek.engine == "pg":
        assert (few.total, few.more) == (6, True)
        assert [match.id for match in few.matches] == ids[:-4:-1]
        assert await records.search.query(parse_query("word*", limit=3)) == few, "the vocabulary has the prefix"
    filtered = await records.search.query(parse_query("words", Filters(kind="note"), limit=3))
    assert (filtered.total, filtered.more) == (0, False)


async def test_a_misspelt_word_has_a_nearest_one(records: Records, peek: Peek):
    await given_texts(records, ("Longline", "fishing with hooks"), ("Long boat", "fishing with nets"))
    await records.search.maintain()
    assert await records.search.nearest("longlien") == "longline"
    assert await records.search.nearest("fisching") == "fishing"
    assert await records.search.nearest("fishing") is None, "the word is known"
    assert await records.search.nearest("zzzzzz") is None


async def test_without_trigrams_the_first_letters_must_be_right(records: Records, peek: Peek):
    await given_texts(records, ("Longline", "fishing"))
    await records.search.maintain()
    if peek.engine == "pg":
        assert await records.search.nearest("xongline") == "longline"
        await peek.rows("DROP EXTENSION pg_trgm CASCADE")
    try:
        assert await records.search.nearest("longlime") == "longline"
        assert await records.search.nearest("xongline") is None
    finally:
        if peek.engine == "pg":
            await peek.rows("CREATE EXTENSION pg_trgm")
            await peek.rows("CREATE INDEX vocabulary_trigrams ON vocabulary USING gin (term gin_trgm_ops)")


async def test_maintenance_rebuilds_the_vocabulary(records: Records, peek: Peek):
    await records.search.maintain()
    if peek.engine == "lite":
        return
    assert await peek.value("SELECT texts FROM vocabulary_of") == 0
    await given_texts(records, ("one", "word word"), ("other", "word"))
    await records.search.maintain()
    assert await peek.rows("SELECT texts, words FROM vocabulary_of") == [(2, 5)]
    assert await peek.rows("SELECT term, doc FROM vocabulary ORDER BY term") == [("one", 1), ("other", 1), ("word", 2)]


async def test_the_index_names_its_engine(records: Records, peek: Peek):
    assert await records.search.check() == ("FTS5" if peek.engine == "lite" else "tsvector")


@pytest.mark.parametrize("engine", ["lite", "pg"])
def test_a_query_cannot_break_out_of_its_quotes(engine: str):
    text = rendered(parse_query("""a' | 'b" OR "c -"d) ! (ef"*"""), engine)  # type: ignore[arg-type]
    assert text in (
        """("a" AND "b" AND "or" AND "c") NOT ("d ef"*)""",
        """('a') & ('b') & ('or') & ('c') & !(('d' <-> 'ef':*))""",
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=40))
async def test_a_text_is_found_by_each_of_its_words(records: Records, text: str):
    (document,) = await stored(records, [{"title": "t", "body": text}])
    for term in parse_query(text.replace('"', " ").replace("*", " ").replace("-", " ")).wanted:
        assert Match(document.id) in _bare(await records.search.query(SearchQuery((term,), limit=1000)))


def _bare(matches) -> Sequence[Match]:
    return [Match(match.id) for match in matches.matches]


# -- alike on both engines ------------------------------------------------------------------------------------------


async def both(
    questions: Sequence[str], folder: Path, postgres: str, clock: FakeClock
) -> Iterable[tuple[str, Answer, Answer]]:
    """Return each question with the answers of SQLite and PostgreSQL."""
    lite = await answers(sqlite(folder), questions, clock)
    return zip(questions, lite, await answers(postgres, questions, clock), strict=True)


async def test_words_are_found_alike_and_in_the_same_order(tmp_path: Path, postgres_url: str, clock: FakeClock):
    for question, lite, large in await both(WORD_QUESTIONS, tmp_path, postgres_url, clock):
        assert lite.total == large.total, question
        assert lite.urls[:10] == large.urls[:10], question
        assert lite.scores == pytest.approx(large.scores, rel=1e-4), question
    assert lite.total == 0


async def test_phrases_and_prefixes_are_found_alike(tmp_path: Path, postgres_url: str, clock: FakeClock):
    for question, lite, large in await both(OTHER_QUESTIONS, tmp_path, postgres_url, clock):
        assert lite.total == large.total > 10, question
        assert set(lite.urls) == set(large.urls), question
