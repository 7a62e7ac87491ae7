"""Text as the index knows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.search.tokenize import MAX_CHARACTERS, similarity, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick, brown-fox!", "the quick brown fox"),
        ("snake_case and C++", "snake case and c"),
        ("Café crème à l’été", "cafe creme a l ete"),
        ("e\u0301te\u0301", "ete"),
        ("Straße ÅNGSTRÖM ﬁne", "strasse angstrom fine"),
        ("東京 タワー", "東 京 タ ワ ー"),
        ("ガ", "ガ"),
        ("한국어 문서", "한국어 문서"),
        ("Москва – Київ", "москва киів"),
        ("हिन्दी लेख", "हिन्दी लेख"),
        ("½ © 5 €", "1 2 5"),
        ("3d 1e5 00042", "3d 1e5 00042"),
        ("half a \ud800 character", "half a character"),
        ("nul\0byte", "nul byte"),
        ("", ""),
    ],
)
def test_words(text: str, words: str):
    assert words_of(text).split() == words.split()


@given(st.text())
@pytest.mark.slow(reason="many examples")
def test_plain_text_stays_as_it_is(text: str):
    once = words_of(text)
    assert words_of(once).split() == once.split()
    assert all(word == word.casefold() for word in once.split() if word.isascii())


@given(st.text(), st.text())
def test_a_text_has_the_words_of_its_parts(one: str, other: str):
    assert words_of(f"{one} {other}").split() == words_of(one).split() + words_of(other).split()


def test_no_text_is_without_an_end():
    assert len(words_of("a " * MAX_CHARACTERS)) == MAX_CHARACTERS


def test_misspelt_words_are_like_the_right_ones():
    assert similarity("longline", "longline") == 1
    assert similarity("longlien", "longline") > similarity("longboat", "longline") > similarity("trawler", "longline")
    assert similarity("abc", "xyz") == 0
