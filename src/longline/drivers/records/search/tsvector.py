"""Texts as PostgreSQL's `tsvector`, in the binary form of its protocol.

The words of a text are split already, and PostgreSQL's own parser takes most of the time of a report. A vector
that is made here has the words and places that `to_tsvector('simple', ...)` gives for words between spaces.
"""

from collections import defaultdict
from collections.abc import Sequence
from struct import Struct

MAX_WORD_BYTES = 2046
MAX_PLACE = 16_383
"""Last place that a vector can hold; all words beyond stand there."""

MAX_PLACES_OF_WORD = 255

Places = dict[bytes, list[int]]

_COUNT = Struct(">I")
# The end of a word, the number of its places, and the places.
_ENDS = tuple(Struct(f">xH{count}H") for count in range(MAX_PLACES_OF_WORD + 1))


def title_and_text(title: str, body: str) -> tuple[bytes, bytes, int]:
    """Return the vector of a title, that of title and body, and the number of words in both.

    One place between title and body is left free: no phrase begins in one and ends in the other.
    """
    head, tail = title.encode().split(), body.encode().split()
    places: Places = defaultdict(list)
    _add(places, head, 1)
    of_title = _vector(places)
    _add(places, tail, len(head) + 2)
    return of_title, _vector(places), len(head) + len(tail)


def _add(places: Places, words: Sequence[bytes], first: int) -> None:
    """Add the places of words that begin at a place."""
    within = max(0, MAX_PLACE - first)
    for place, word in enumerate(words[:within], first):
        places[word].append(place)
    for word in words[within:]:
        if not (found := places[word]) or found[-1] < MAX_PLACE:
            found.append(MAX_PLACE)


def _vector(places: Places) -> bytes:
    """Return a vector; PostgreSQL sorts its words."""
    parts = [b""]
    for word, found in places.items():
        if len(word) <= MAX_WORD_BYTES:
            kept = found if len(found) <= MAX_PLACES_OF_WORD else found[:MAX_PLACES_OF_WORD]
            parts.append(word + _ENDS[len(kept)].pack(len(kept), *kept))
    parts[0] = _COUNT.pack(len(parts) - 1)
    return b"".join(parts)
