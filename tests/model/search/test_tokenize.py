"""Texts as tokens of the index."""

import hashlib
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.search.tokenize import MAX_CHARACTERS, TOKENIZER, similarity, words_of


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
def test_a_text_is_split_into_words(text: str, words: str):
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


def test_the_number_of_words_is_bounded():
    assert len(words_of("a " * MAX_CHARACTERS)) == MAX_CHARACTERS


DIGESTS = {
    "14.0.0": ("1", "ed2e4bd4b53783c4"),
    "15.0.0": ("1", "445f602874a114bb"),
    "15.1.0": ("1", "db36bc2fafc81475"),
}
"""The number of the rules and a digest of all words, by version of Unicode."""


def test_changed_rules_need_another_name():
    """SQLite's index is rebuilt for another name; raise the number in `TOKENIZER` and put the new digest here."""
    assigned = (chr(c) for c in range(0x10000) if unicodedata.category(chr(c)) not in ("Cn", "Cs"))
    digest = hashlib.sha256(words_of_all(assigned).encode()).hexdigest()[:16]
    if (known := DIGESTS.get(unicodedata.unidata_version)) is None:
        pytest.skip(f"no digest for Unicode {unicodedata.unidata_version}")
    assert (TOKENIZER.split(",")[0], digest) == known


def words_of_all(characters: Iterable[str]) -> str:
    return "\n".join(words_of(f"a{character}b") for character in characters)


def test_misspelt_words_are_like_the_right_ones():
    assert similarity("longline", "longline") == 1
    assert similarity("longlien", "longline") > similarity("longboat", "longline") > similarity("trawler", "longline")
    assert similarity("abc", "xyz") == 0
