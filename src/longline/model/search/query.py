"""Queries as they are typed: words, "quoted phrases", -without and begin*; parsed once, rendered by each engine.

A parsed query holds tokens of `model/search/tokenize.py`, letters and digits only, so it carries no other syntax to an
engine.
"""

import re
from typing import Literal

import msgspec

from longline.model.errors import BadInput
from longline.model.search.tokenize import words_of

TITLE_WEIGHT = 4.0
"""Number of words in the text that a word in the title counts as, in every search engine."""


Sort = Literal["score", "price", "rating", "created", "updated"]

MAX_TEXT_CHARACTERS, MAX_TERMS, MIN_PREFIX_CHARACTERS = 1000, 32, 2
MAX_LIMIT = 1000

_WORD = re.compile(r"[^\W_]+")
_LOOKED_AT, _BEFORE, _WIDE = 20_000, 60, 200
_PIECE = re.compile(r'(?P<without>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))(?P<start>\*?)')


class Term(msgspec.Struct, frozen=True):
    """Words that follow each other; with `prefix` the last word is a prefix."""

    words: tuple[str, ...]
    prefix: bool = False


class Filters(msgspec.Struct, frozen=True):
    """Conditions on a match besides its words; None is no condition."""

    kind: str | None = None
    source_id: int | None = None
    run_id: int | None = None
    availability: str | None = None
    brand: str | None = None
    category: str | None = None
    price_min: float | None = None
    price_max: float | None = None
    rating_min: float | None = None


class SearchQuery(msgspec.Struct, frozen=True):
    """A query of the index. A match has all of `wanted` and none of `unwanted`; without either, all items match."""

    wanted: tuple[Term, ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: Filters = Filters()
    sort: Sort = "score"
    descending: bool = True
    limit: int = 20
    offset: int = 0


class Match(msgspec.Struct, frozen=True):
    """An item that a query found; a higher score is a better match. The score is 0 in any other order."""

    id: int
    score: float = 0.0


class Matches(msgspec.Struct, frozen=True):
    """One page of matches. With `more`, there may be more than `total`: the engine looked at no others."""

    matches: tuple[Match, ...] = ()
    total: int = 0
    more: bool = False


def parse_query(text: str, filters: Filters | None = None, **how: object) -> SearchQuery:
    """Return the query of a text; raise `BadInput` for a text that cannot be searched for."""
    if len(text) > MAX_TEXT_CHARACTERS:
        raise BadInput(f"a search has at most {MAX_TEXT_CHARACTERS} characters")
    wanted: list[Term] = []
    unwanted: list[Term] = []
    for piece in _PIECE.finditer(text):
        term = _term(piece)
        if term is not None:
            (unwanted if piece["without"] else wanted).append(term)
    if len(wanted) + len(unwanted) > MAX_TERMS:
        raise BadInput(f"a search has at most {MAX_TERMS} words and phrases")
    if unwanted and not wanted:
        raise BadInput("give words to search for, not only words to exclude")
    return msgspec.convert(
        {"wanted": wanted, "unwanted": unwanted, "filters": filters or Filters(), **how}, SearchQuery
    )


class Piece(msgspec.Struct, frozen=True):
    """A piece of a text; `wanted` marks a word of the query."""

    text: str
    wanted: bool = False


def excerpt(text: str, query: SearchQuery) -> tuple[Piece, ...]:
    """Return the part of a text around the first match, in pieces; its beginning when there is no match."""
    text = text[:_LOOKED_AT]
    found = [place.span() for place in _WORD.finditer(text) if _is_wanted(place[0], query.wanted)]
    start = _begin(text, found[0][0]) if found else 0
    end = start + _WIDE
    pieces, at = [], start
    for first, last in (span for span in found if span[0] < end):
        pieces += [Piece(text[at:first]), Piece(text[first:last], wanted=True)]
        at = last
    return tuple(piece for piece in (*pieces, Piece(text[at : max(at, end)])) if piece.text)


def _begin(text: str, first: int) -> int:
    """Return the start of an excerpt: up to `_BEFORE` characters before the match, at the beginning of a word."""
    start = max(0, first - _BEFORE)
    blank = text.find(" ", start, first)
    return blank + 1 if start and blank >= 0 else start


def _is_wanted(word: str, terms: tuple[Term, ...]) -> bool:
    # Nearly every word is dismissed by its first letter, which is cheap.
    if word.isascii() and not any(said.startswith(word[0].lower()) for term in terms for said in term.words):
        return False
    parts = words_of(word).split()
    exact = {said for term in terms for said in term.words}
    starts = tuple(term.words[-1] for term in terms if term.prefix)
    return any(part in exact or part.startswith(starts) for part in parts)


def _term(piece: re.Match[str]) -> Term | None:
    said = piece["phrase"] if piece["word"] is None else piece["word"]
    words = tuple(words_of(said).split())
    if not words:
        return None
    prefix = bool(piece["start"]) or (piece["word"] or "").endswith("*")
    if prefix and len(words[-1]) < MIN_PREFIX_CHARACTERS:
        raise BadInput(f"{words[-1]}* begins too many words; give at least {MIN_PREFIX_CHARACTERS} letters")
    return Term(words, prefix)
