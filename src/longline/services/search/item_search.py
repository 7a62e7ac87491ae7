"""Search: items by their text and their fields."""

import msgspec

from longline.model.search.item import ItemRow, field_text
from longline.model.search.query import Filters, Match, Matches, Piece, SearchQuery, Sort, Term, excerpt, parse_query
from longline.ports.records.search import ItemStore
from longline.ports.search import Search


class SearchRequest(msgspec.Struct, frozen=True):
    """A query as it was typed, with filters, order and page."""

    text: str = ""
    filters: Filters = Filters()
    sort: Sort = "score"
    descending: bool = True
    limit: int = 20
    offset: int = 0


class Hit(msgspec.Struct, frozen=True):
    """An item that a query found, its score, and an excerpt with the words of the query."""

    item: ItemRow
    score: float
    excerpt: tuple[Piece, ...]


class SearchPage(msgspec.Struct, frozen=True):
    """One page of hits. With `more` there are more than `total`; `meant` is the corrected query that found them."""

    hits: tuple[Hit, ...]
    total: int
    more: bool = False
    meant: str | None = None


class Searches:
    """Search in the index, with items from the database."""

    def __init__(self, search: Search, items: ItemStore) -> None:
        self._search, self._items = search, items

    async def find(self, asked: SearchRequest) -> SearchPage:
        """Return matching items in the order asked for; without a match, search for the nearest known words."""
        how = {"sort": asked.sort, "descending": asked.descending, "limit": asked.limit, "offset": asked.offset}
        query = parse_query(asked.text, asked.filters, **how)
        matches, meant = await self._search.query(query), None
        if not matches.total and query.wanted and (corrected := await self._corrected(query)):
            query, matches = corrected, await self._search.query(corrected)
            meant = " ".join(_said(term) for term in corrected.wanted) if matches.total else None
        return await self._found(query, matches, meant)

    async def newest(self, kind: str | None, before: int | None, limit: int) -> list[Hit]:
        """Return the newest items, without their total number; `before` continues a list behind an id."""
        found = await self._items.newest(kind, before, limit)
        return [_hit(item, Match(item.id), SearchQuery()) for item in found]

    async def of_run(self, run_id: int, after: int, limit: int) -> list[tuple[int, Hit]]:
        """Return items of a run with their positions, in the order in which they came; `after` continues a list."""
        found = await self._items.of_run(run_id, after=after, limit=limit)
        return [(item.position, _hit(item, Match(item.id), SearchQuery())) for item in found]

    async def _found(self, query: SearchQuery, matches: Matches, meant: str | None) -> SearchPage:
        items = {item.id: item for item in await self._items.get([match.id for match in matches.matches])}
        # The index may hold an item a moment longer than the database does.
        hits = tuple(_hit(items[m.id], m, query) for m in matches.matches if m.id in items)
        return SearchPage(hits, matches.total, matches.more, meant)

    async def _corrected(self, query: SearchQuery) -> SearchQuery | None:
        nearest = {word: await self._search.nearest(word) for term in query.wanted for word in term.words}
        if not any(nearest.values()):
            return None
        terms = [Term(tuple(nearest[word] or word for word in term.words), term.prefix) for term in query.wanted]
        return msgspec.structs.replace(query, wanted=tuple(terms))


def _hit(item: ItemRow, match: Match, query: SearchQuery) -> Hit:
    found = excerpt(item.body, query)
    if not any(piece.wanted for piece in found):
        # The words may be in another field.
        other = excerpt(field_text(item), query)
        found = other if any(piece.wanted for piece in other) or not found else found
    return Hit(item, match.score, found)


def _said(term: Term) -> str:
    text = " ".join(term.words)
    return (f'"{text}"' if len(term.words) > 1 else text) + ("*" if term.prefix else "")
