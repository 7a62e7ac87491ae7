"""A search as it is typed: words, "quoted phrases", -without and begin*; parsed once, rendered by each engine.

A parsed query holds tokens of `model/search/tokenize.py`, letters and digits only, so it carries no other syntax to an
engine.
"""

import re
from typing import Literal

import msgspec

from longline.model.errors import BadInput
from longline.model.search.tokenize import plain

Sort = Literal["score", "price", "rating", "created", "updated"]

MAX_TEXT, MAX_TERMS, SHORTEST_START = 1000, 32, 2
MAX_LIMIT = 1000

_WORD = re.compile(r"[^\W_]+")
_LOOKED_AT, _BEFORE, _WIDE = 20_000, 60, 200
_PIECE = re.compile(r'(?P<without>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))(?P<start>\*?)')


class Term(msgspec.Struct, frozen=True):
    """Words that follow each other; with `prefix` the last one may go on."""

    words: tuple[str, ...]
    prefix: bool = False


class Filters(msgspec.Struct, frozen=True):
    """What a hit must be besides what it says; None leaves it open."""

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
    """A question to the index. All of `wanted` and none of `unwanted` must be there; without either it is a list."""

    wanted: tuple[Term, ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: Filters = Filters()
    sort: Sort = "score"
    descending: bool = True
    limit: int = 20
    offset: int = 0


class Match(msgspec.Struct, frozen=True):
    """An item that was found; the higher the score, the better it fits. 0 where the order is another."""

    id: int
    score: float = 0.0


class Matches(msgspec.Struct, frozen=True):
    """One page of what was found. With `more`, there are more than `total`, and only so many were looked at."""

    matches: tuple[Match, ...] = ()
    total: int = 0
    more: bool = False


def parse_query(text: str, filters: Filters | None = None, **how: object) -> SearchQuery:
    """The question that was typed; raises `BadInput` for one that cannot be answered."""
    if len(text) > MAX_TEXT:
        raise BadInput(f"a search has at most {MAX_TEXT} characters")
    wanted: list[Term] = []
    unwanted: list[Term] = []
    for piece in _PIECE.finditer(text):
        term = _term(piece)
        if term is not None:
            (unwanted if piece["without"] else wanted).append(term)
    if len(wanted) + len(unwanted) > MAX_TERMS:
        raise BadInput(f"a search has at most {MAX_TERMS} words and phrases")
    if unwanted and not wanted:
        raise BadInput("say what to look for, not only what to leave out")
    return msgspec.convert(
        {"wanted": wanted, "unwanted": unwanted, "filters": filters or Filters(), **how}, SearchQuery
    )


class Piece(msgspec.Struct, frozen=True):
    """A piece of a text, and whether it is what was looked for."""

    text: str
    wanted: bool = False


def excerpt(text: str, query: SearchQuery) -> tuple[Piece, ...]:
    """Where a text first says what was looked for, in pieces; its beginning when it does not."""
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
    """Some way before the place, at the beginning of a word."""
    start = max(0, first - _BEFORE)
    blank = text.find(" ", start, first)
    return blank + 1 if start and blank >= 0 else start


def _is_wanted(word: str, terms: tuple[Term, ...]) -> bool:
    # Nearly every word is dismissed by its first letter, which is cheap.
    if word.isascii() and not any(said.startswith(word[0].lower()) for term in terms for said in term.words):
        return False
    parts = plain(word).split()
    exact = {said for term in terms for said in term.words}
    starts = tuple(term.words[-1] for term in terms if term.prefix)
    return any(part in exact or part.startswith(starts) for part in parts)


def _term(piece: re.Match[str]) -> Term | None:
    said = piece["phrase"] if piece["word"] is None else piece["word"]
    words = tuple(plain(said).split())
    if not words:
        return None
    prefix = bool(piece["start"]) or (piece["word"] or "").endswith("*")
    if prefix and len(words[-1]) < SHORTEST_START:
        raise BadInput(f"{words[-1]}* begins too many words; give at least {SHORTEST_START} letters")
    return Term(words, prefix)
