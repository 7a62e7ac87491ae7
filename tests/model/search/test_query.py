"""The parser of search queries, and excerpts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.errors import BadInput
from longline.model.search.query import MAX_TERMS, MAX_TEXT_CHARACTERS, Filters, SearchQuery, Term, excerpt, parse_query


def term(*words: str, prefix: bool = False) -> Term:
    return Term(words, prefix)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("deep  sea", (term("deep"), term("sea")), ()),
        ('"Deep Sea" fish', (term("deep", "sea"), term("fish")), ()),
        ("fish -tuna", (term("fish"),), (term("tuna"),)),
        ('fish -"blue fin"', (term("fish"),), (term("blue", "fin"),)),
        ("fish*", (term("fish", prefix=True),), ()),
        ('"deep se"*', (term("deep", "se", prefix=True),), ()),
        ('"deep sea', (term("deep", "sea"),), ()),
        ('a"b c"d', (term("a"), term("b", "c"), term("d")), ()),
        ("long-line l'été", (term("long", "line"), term("l", "ete")), ()),
        ("東京", (term("東", "京"),), ()),
        ('- -- "" * \'', (), ()),
        ("", (), ()),
        (
            "AND OR NOT NEAR(a b) col:x",
            (*map(term, ["and", "or", "not"]), term("near", "a"), term("b"), term("col", "x")),
            (),
        ),
    ],
)
def test_a_query_is_parsed_into_terms(text: str, wanted: tuple[Term, ...], unwanted: tuple[Term, ...]):
    assert parse_query(text) == SearchQuery(wanted, unwanted)


def test_a_query_has_its_filters_and_order():
    filters = Filters(kind="product", price_max=9.5)
    query = parse_query("rod", filters, sort="price", descending=False, limit=5, offset=10)
    assert query == SearchQuery((term("rod"),), (), filters, "price", descending=False, limit=5, offset=10)


@pytest.mark.parametrize(
    "text", ["-tuna", '-"blue fin" -x', "a*", "x" * (MAX_TEXT_CHARACTERS + 1), "a " * (MAX_TERMS + 1)]
)
def test_an_unanswerable_query_is_refused(text: str):
    with pytest.raises(BadInput):
        parse_query(text)


@given(st.text(alphabet=st.characters() | st.sampled_from("\"'-*:()& |!\\"), max_size=60))
def test_a_query_consists_of_words_alone(text: str):
    try:
        query = parse_query(text)
    except BadInput:
        return
    for found in query.wanted + query.unwanted:
        assert found.words
        for word in found.words:
            assert word
            assert not set(word) & set("\"'*:()&|!\\- \t\n\0_.")


def marked(text: str, query: str) -> str:
    return "".join(f"[{p.text}]" if p.wanted else p.text for p in excerpt(text, parse_query(query)))


def test_an_excerpt_marks_the_words_of_the_query():
    assert marked("One Hook, two hooks in the Séa.", "hook sea") == "One [Hook], two hooks in the [Séa]."
    assert marked("One hook, two hooks.", "hoo*") == "One [hook], two [hooks]."
    assert marked("l'été à la mer", '"l ete"') == "[l]'[été] à la mer"
    assert marked("東京タワー", "東京") == "[東京タワー]"


def test_an_excerpt_shows_the_surroundings_of_a_match_alone():
    shown = marked("word " * 500 + "hook " + "word " * 500, "hook")
    assert "[hook]" in shown
    assert shown.startswith("word ")
    assert len(shown) < 230


def test_an_excerpt_without_a_match_is_the_beginning():
    assert marked("word " * 500, "hook").strip() == ("word " * 40).strip()
    assert marked("", "hook") == ""
