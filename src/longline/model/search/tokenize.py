"""Text in the form of the index: words in lower case, without accents, one space apart.

Both engines get text in this form and split it at spaces, so that both index the same words despite their own rules.
A character of a script that is written without spaces is a word of its own.
"""

import codecs
import re
import unicodedata
from functools import lru_cache

MAX_CHARACTERS = 100_000
"""Characters of a text that are indexed; PostgreSQL stores no position of a word beyond the 16,383rd."""

TOKENIZER = f"1, Unicode {unicodedata.unidata_version}"
"""Name of the rules by which words are made; another name has SQLite's index made anew. A change of rules raises it."""

_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]+")
# Vowel signs and the like are no letters to Python, but no end of a word either.
_MARKS = "".join(chr(c) for c in range(0x0700, 0x1D00) if unicodedata.category(chr(c)) in ("Mn", "Mc")) + "\u3099\u309a"
_BETWEEN = re.compile(f"(?:(?![{_MARKS}])[\\W_])+")
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_FOLD = "longline.fold"
_BYTES = bytes(b if b >= 128 or chr(b).isalnum() else 32 for b in b"".join(bytes([i]).lower() for i in range(256)))


def words_of(text: str) -> str:
    """Return the words of a text, separated by spaces; the same text always gives the same words."""
    # The encoder finds characters outside ASCII four times as fast as a regular expression does.
    return text[:MAX_CHARACTERS].encode("ascii", _FOLD).translate(_BYTES).decode()


def trigrams(word: str) -> frozenset[str]:
    """Return the trigrams of a word with its ends marked; a misspelt word shares most of them with the right word."""
    marked = f"  {word} "
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))


def similarity(one: str, other: str) -> float:
    """Return the similarity of two words, from 0 to 1: shared trigrams divided by all trigrams of both."""
    a, b = trigrams(one), trigrams(other)
    return len(a & b) / len(a | b)


@lru_cache(maxsize=10_000)
def _folded(run: str) -> bytes:
    # Cached, since a page repeats the same few: quotes, dashes, the sign after each heading.
    text = unicodedata.normalize("NFKD", run).casefold()
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    return _UNSPACED.sub(r" \1 ", _BETWEEN.sub(" ", text)).encode("utf-8", "replace")


def _fold(found: UnicodeError) -> tuple[bytes, int]:
    """Return the bytes that the encoder writes for a run of characters outside ASCII."""
    assert isinstance(found, UnicodeEncodeError)
    return _folded(found.object[found.start : found.end]), found.end


codecs.register_error(_FOLD, _fold)
