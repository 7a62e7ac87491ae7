"""The index inside the database: FTS5 on SQLite, tsvector on PostgreSQL, over texts of plain words."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.named_queries import Engine
from longline.drivers.records.search.index_write import Text, index
from longline.model.search.item import SearchDocument, searched_words
from longline.model.search.query import TITLE_WEIGHT, Filters, Match, Matches, SearchQuery, Term
from longline.model.search.tokenize import similarity

MAX_RANKED = 1000
"""Largest number of matching texts to rank: PostgreSQL has no order by rank in its index."""

ENOUGH, ENOUGH_PHRASES = 1500, 4000
"""Numbers of candidate texts in the newest slices, which are searched first where far more texts may match. A phrase
needs more: its words often stand apart, which only the text itself shows, so few candidates match."""

SLICE_BITS = 12  # as in the index and in `search_newest`
MAX_SLICES = 256
"""Largest number of slices: each costs a descent into the index, all as much as some ten thousand matching texts."""

MIN_SIMILARITY = 0.4
MAX_SIMILAR_TERMS = 2000
LAST = "\U0010ffff"

SAMPLED = "SELECT words FROM texts TABLESAMPLE SYSTEM ({:.6f})"
SAMPLE_SIZE = 20_000
GROWTH = 1.25
"""Growth of the number of texts after which the vocabulary is counted anew, over a sample of `SAMPLE_SIZE` texts."""


class RecordsSearch:
    """Search in the records' own engine."""

    def __init__(self, database: Database) -> None:
        self._database, self._engine = database, database.engine

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        # Some hundred texts take longer than the event loop may block.
        texts = await asyncio.to_thread(_texts, documents)
        await self._database.transact(lambda tx: index(tx, texts))

    async def query(self, query: SearchQuery) -> Matches:
        async def work(tx: Transaction) -> Matches:
            if not query.wanted or query.sort != "score":
                return await self._sorted(tx, query)
            return await (self._ranked(tx, query) if self._engine == "lite" else self._weighed(tx, query))

        return await self._database.read(work)

    async def nearest(self, word: str) -> str | None:
        async def work(tx: Transaction) -> str | None:
            if await tx.all("terms_between", low=word, high=word, limit=1):
                return None
            known = {row["term"]: row["doc"] for row in await self._alike(tx, word)}
            best = max(known, key=lambda term: (similarity(word, term), known[term]), default=None)
            return best if best is not None and similarity(word, best) >= MIN_SIMILARITY else None

        return await self._database.read(work)

    async def maintain(self) -> None:
        await self._database.transact(_count_anew if self._engine == "pg" else _merge)

    async def check(self) -> str:
        await self._database.read(lambda tx: self._count(tx, SearchQuery((Term(("longline",)),))))
        return "FTS5" if self._engine == "lite" else "tsvector"

    async def close(self) -> None:
        """Do nothing: the engine belongs to the records."""

    async def _sorted(self, tx: Transaction, query: SearchQuery) -> Matches:
        # Without words there is no rank: the newest first.
        sort = "created" if query.sort == "score" else query.sort
        order = {"sort": sort, "direction": -1.0 if query.descending else 1.0}
        if query.wanted:
            return await self._page(tx, "search_sorted", query, text=self._text(query), **order)
        return await self._page(tx, "browse", query, **order)

    async def _weighed(self, tx: Transaction, query: SearchQuery) -> Matches:
        """Search on PostgreSQL: the frequencies of the words decide the query and the weight of each word."""
        asked = _words(query)
        weights = await tx.all("weigh_words", lows=[word.low for word in asked], highs=[word.high for word in asked])
        index = weights[0]
        texts, docs = int(index["texts"]), [min(int(row["docs"]), int(row["texts"])) for row in weights]
        ranks = {
            "queries": [word.query for word in asked],
            "rarities": [max(1e-6, math.log((texts - n + 0.5) / (n + 0.5))) for n in docs],
            "mean": max(1.0, index["words"] / max(1, texts)),
            "most": MAX_RANKED,
        }
        fit = texts * math.prod(n / max(1, texts) for n in docs)
        enough = ENOUGH_PHRASES if any(len(term.words) > 1 for term in query.wanted) else ENOUGH
        if slices := _newest(index["oldest"], index["newest"], enough / max(1.0, fit)):
            text = rendered(
                query, self._engine, {a.low: row["terms"] or () for a, row in zip(asked, weights, strict=True)}
            )
            newest = await self._ranked(tx, query, "search_newest", slices=slices, text=text, **ranks)
            if newest.total >= query.offset + query.limit:
                return msgspec.structs.replace(newest, more=True)
        matches = await self._ranked(tx, query, **ranks)
        return msgspec.structs.replace(matches, more=matches.total == MAX_RANKED)

    async def _ranked(
        self, tx: Transaction, query: SearchQuery, name: str = "search_ranked", /, **how: object
    ) -> Matches:
        always = {"text": self._text(query), "every": query.filters == Filters(), "title_weight": TITLE_WEIGHT}
        return await self._page(tx, name, query, **always | how)

    async def _page(self, tx: Transaction, name: str, query: SearchQuery, /, **params: object) -> Matches:
        filters = msgspec.structs.asdict(query.filters)
        rows = await tx.all(name, limit=query.limit, offset=query.offset, **filters, **params)
        total = int(rows[0]["total"]) if rows else await self._count(tx, query) if query.offset else 0
        return Matches(tuple(Match(row["id"], row["score"]) for row in rows), total)

    def _text(self, query: SearchQuery) -> str:
        return rendered(query, self._engine)

    async def _count(self, tx: Transaction, query: SearchQuery) -> int:
        params = msgspec.structs.asdict(query.filters)
        if query.wanted:
            row = await tx.one("count_found", text=self._text(query), every=query.filters == Filters(), **params)
        else:
            row = await tx.one("count_browsed", **params)
        return int(row["count"]) if row else 0

    async def _alike(self, tx: Transaction, word: str) -> Sequence[Row]:
        if self._engine == "pg":
            has = await tx.one("has_trigrams")
            if has and has["count"]:
                return await tx.all("terms_alike", word=word, limit=MAX_SIMILAR_TERMS)
        start = word[:2]
        return await tx.all("terms_between", low=start, high=start + LAST, limit=MAX_SIMILAR_TERMS)


def rendered(query: SearchQuery, engine: Engine, known: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Return a query in the engine's own language; words are letters and digits, so quotes are all they need.

    `known` has words for wanted prefixes; these words replace their prefix, so the index need not gather them.
    """
    if engine == "lite":
        wanted, unwanted = (" AND ".join(map(_fts, query.wanted)), " OR ".join(map(_fts, query.unwanted)))
        return f"({wanted}) NOT ({unwanted})" if unwanted else wanted
    wanted, unwanted = " & ".join(_tsquery(t, known) for t in query.wanted), " | ".join(map(_tsquery, query.unwanted))
    return f"{wanted} & !({unwanted})" if unwanted else wanted


def _fts(term: Term) -> str:
    return f'"{" ".join(term.words)}"' + ("*" if term.prefix else "")


def _tsquery(term: Term, known: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    words = [f"'{word}'" for word in term.words]
    if term.prefix:
        begun = " | ".join(f"'{word}'" for word in known.get(term.words[-1], ()))
        words[-1] = f"({begun})" if begun else f"{words[-1]}:*"
    return f"({' <-> '.join(words)})"


class _Word(NamedTuple):
    """A word that counts for the rank: its query, and its range in the vocabulary."""

    query: str
    low: str
    high: str


def _words(query: SearchQuery) -> list[_Word]:
    """Return the words that count for the rank, each once."""
    said = {(word, term.prefix and word is term.words[-1]) for term in query.wanted for word in term.words}
    return [_Word(f"'{w}':*", w, w + LAST) if prefix else _Word(f"'{w}'", w, w) for w, prefix in sorted(said)]


def _newest(first: int, last: int, share: float) -> list[int]:
    """Return the newest slices with this share of all texts between two ids; no slices if these are too many."""
    oldest, newest = first >> SLICE_BITS, last >> SLICE_BITS
    count = math.ceil((newest - oldest + 1) * share)
    return list(range(newest - count + 1, newest + 1)) if count <= min(newest - oldest, MAX_SLICES) else []


def _texts(documents: Sequence[SearchDocument]) -> list[Text]:
    return [(d.id, d.version, *searched_words(d)) for d in sorted(documents, key=lambda d: d.id)]


async def _merge(tx: Transaction) -> None:
    await tx.all("merge_texts")


async def _count_anew(tx: Transaction) -> None:
    """Flush the index's pending list; count the vocabulary, if there are many more texts than before, or fewer."""
    await tx.all("clean_texts")
    counted, there = await tx.one("counted_texts"), await tx.one("size_of_texts")
    before, texts = counted["texts"] if counted else 0, there["texts"] if there else 0
    if before <= texts <= before * GROWTH and texts:
        return
    percent = min(100.0, 100.0 * SAMPLE_SIZE / max(1, texts))
    mean = await tx.one("mean_text", percent=percent)
    await tx.all("forget_vocabulary")
    await tx.all("count_vocabulary", sample=SAMPLED.format(percent), factor=100.0 / percent)
    await tx.all("say_vocabulary", texts=texts, words=round(texts * (mean["mean"] if mean else 0)))
