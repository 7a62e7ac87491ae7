"""Search on OpenSearch or Elasticsearch: all items in one index, articles also in an index of their source."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from wreq import Method

from longline.drivers.search.mapping import ITEMS, RAW_CONTENT
from longline.drivers.search.nodes import LINES, NodeResponse, Nodes
from longline.model.errors import Unavailable
from longline.model.search import document as index
from longline.model.search.item import SearchDocument, searched_words
from longline.model.search.query import TITLE_WEIGHT, Match, Matches, SearchQuery, Term

log = logging.getLogger(__name__)

INDEX_NAME = "longline_items"
FIELDS = [f"title^{TITLE_WEIGHT:g}", "body"]
RETRYABLE_STATUSES = frozenset({429, 503})
_SAME = ("kind", "source_id", "run_id", "availability", "brand", "category")
_BOUNDS = {"price_min": ("price", "gte"), "price_max": ("price", "lte"), "rating_min": ("rating", "gte")}

Action = tuple[dict[str, Any], dict[str, Any]]


class OpenSearch:
    """The index on a cluster."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._made: set[str] = set()

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        articles = [d for d in documents if d.kind in index.RAW_CONTENT]
        await self._make(INDEX_NAME, ITEMS)
        for name in sorted({index.index_of(d) for d in articles}):
            await self._make(name, RAW_CONTENT)
        # In a thread: some hundred texts would block the event loop for too long.
        await self._bulk(await asyncio.to_thread(_writes, documents, articles))

    async def query(self, query: SearchQuery) -> Matches:
        asked = {
            "query": rendered(query),
            "from": query.offset,
            "size": query.limit,
            "sort": _order(query),
            "track_scores": query.sort == "score",
            "track_total_hits": True,
            "_source": False,
        }
        answer = await self._ask(f"/{INDEX_NAME}/_search", asked)
        if answer is None:
            return Matches()
        hits = answer["hits"]
        matches = tuple(Match(int(hit["_id"]), hit.get("_score") or 0.0) for hit in hits["hits"])
        return Matches(matches, hits["total"]["value"], hits["total"]["relation"] != "eq")

    async def nearest(self, word: str) -> str | None:
        near = {"text": word, "term": {"field": "body", "suggest_mode": "missing", "min_word_length": 3}}
        answer = await self._ask(f"/{INDEX_NAME}/_search", {"size": 0, "suggest": {"near": near}})
        options = [o for entry in answer["suggest"]["near"] for o in entry["options"]] if answer else []
        return str(options[0]["text"]) if options else None

    async def maintain(self) -> None:
        """Do nothing: the cluster merges by itself."""

    async def check(self) -> str:
        answer = await self._nodes.send(Method.GET, "/")
        version = answer.said.get("version", {}) if isinstance(answer.said, dict) else {}
        if answer.status != 200 or not version:
            raise Unavailable(f"search cannot be used: {answer.error_type}")
        return f"{version.get('distribution', 'elasticsearch')} {version.get('number', '')}".strip()

    async def close(self) -> None:
        await self._nodes.close()

    async def _make(self, name: str, mapping: dict[str, Any]) -> None:
        """Create an index with its mapping before the first write, once in the life of the process."""
        if name in self._made:
            return
        answer = await self._nodes.send(Method.PUT, f"/{name}", orjson.dumps(mapping))
        if answer.status >= 300 and answer.error_type != "resource_already_exists_exception":
            raise Unavailable(f"the index {name} cannot be made: {answer.error_type}")
        self._made.add(name)

    async def _bulk(self, actions: Sequence[Action]) -> None:
        if not actions:
            return
        body = b"".join(orjson.dumps(part) + b"\n" for action in actions for part in action)
        answer = await self._nodes.send(Method.POST, "/_bulk", body, LINES)
        if answer.status >= 300:
            raise Unavailable(f"search refused a batch: {answer.error_type}")
        if answer.said["errors"]:
            self._look_at(next(iter(item.values())) for item in answer.said["items"])

    def _look_at(self, items: Iterable[dict[str, Any]]) -> None:
        """Raise `Unavailable` for items to be sent again; log and leave out items refused for good."""
        for item in items:
            trouble = NodeResponse(item["status"], item).error_type
            if item["status"] in RETRYABLE_STATUSES:
                raise Unavailable(f"search had no room for a batch: {trouble}")
            if item["status"] >= 400:
                log.warning("search engine rejected a document", extra={"id": item["_id"], "error": trouble})

    async def _ask(self, path: str, body: dict[str, Any]) -> Any:
        """Return the cluster's response; None while there is no index yet."""
        answer = await self._nodes.send(Method.POST, path, orjson.dumps(body))
        if answer.status == 404:
            return None
        if answer.status >= 300:
            raise Unavailable(f"search cannot answer: {answer.error_type}")
        return answer.said


def rendered(query: SearchQuery) -> dict[str, Any]:
    """Return a query in the cluster's query language; words are values in it, never part of its syntax."""
    filters: list[dict[str, Any]] = [
        {"term": {name: value}} for name in _SAME if (value := getattr(query.filters, name)) is not None
    ]
    filters += [
        {"range": {field: {bound: value}}}
        for name, (field, bound) in _BOUNDS.items()
        if (value := getattr(query.filters, name)) is not None
    ]
    must = [_said(term) for term in query.wanted]
    return {"bool": {"must": must, "must_not": [_said(term) for term in query.unwanted], "filter": filters}}


def _said(term: Term) -> dict[str, Any]:
    how: dict[str, Any] = {"type": "phrase_prefix", "max_expansions": 1000} if term.prefix else {"type": "phrase"}
    return {"multi_match": {"query": " ".join(term.words), "fields": FIELDS, **how}}


def _order(query: SearchQuery) -> list[Any]:
    if query.sort == "score" and query.wanted:
        return ["_score", {"id": "desc"}]
    order = "desc" if query.descending else "asc"
    field = "created" if query.sort == "score" else query.sort
    return [{field: {"order": order, "missing": "_last"}}, {"id": order}]


def _writes(documents: Sequence[SearchDocument], articles: Sequence[SearchDocument]) -> list[Action]:
    ours: list[Action] = [({"index": {"_index": INDEX_NAME, "_id": str(d.id)}}, _ours(d)) for d in documents]
    return ours + [
        ({"index": {"_index": index.index_of(d), "_id": index.document_id(d)}}, index.raw_content(d)) for d in articles
    ]


def _ours(document: SearchDocument) -> dict[str, Any]:
    title, body = searched_words(document)
    return {name: getattr(document, name) for name in ("id", *_SAME, "price", "rating")} | {
        "title": title,
        "body": body,
        "created": document.created_at,
        "updated": document.updated_at,
    }
