"""Index mappings, both strict: an unmapped field is refused, not guessed at."""

from typing import Any

from longline.model.search.document import (
    KEYWORDS,
    LINKED_DATES,
    LINKED_KEYWORDS,
    LINKED_TEXTS,
    META_DATES,
    META_KEYWORDS,
    TEXTS,
)

KEYWORD, TEXT = {"type": "keyword"}, {"type": "text"}
WHOLE, NUMBER = {"type": "long"}, {"type": "double"}
DATE = {"type": "date", "format": "strict_date_optional_time||epoch_millis"}
NOT_INDEXED = {"type": "object", "enabled": False}
# Texts are tokenized into plain words before indexing.
WORDS = {"type": "text", "analyzer": "whitespace"}


def _strict(properties: dict[str, Any]) -> dict[str, Any]:
    return {"dynamic": "strict", "properties": properties}


def _each(names: tuple[str, ...], kind: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(names, kind)


ITEMS = {
    "mappings": _strict(
        {"title": WORDS, "body": WORDS, "price": NUMBER, "rating": NUMBER}
        | _each(("kind", "availability", "brand", "category"), KEYWORD)
        | _each(("id", "source_id", "run_id", "created", "updated"), WHOLE)
    )
}
"""The mapping of the items index, which search queries."""

RAW_CONTENT = {
    "mappings": _strict(
        _each(("id", "url", "source_name", "classification_status", *KEYWORDS), KEYWORD)
        | _each(("title", "raw_text", *TEXTS), TEXT)
        | {"raw_html": {"type": "text", "index": False}, "word_count": {"type": "integer"}}
        | _each(("published_date", "crawled_at"), DATE)
        | {
            "json_ld_data": _strict(
                _each(LINKED_TEXTS, TEXT)
                | _each(LINKED_KEYWORDS, KEYWORD)
                | _each(LINKED_DATES, DATE)
                | {"jsonld_word_count": {"type": "integer"}, "jsonld_raw": NOT_INDEXED}
            ),
            "meta": _strict(_each(META_KEYWORDS, KEYWORD) | _each(META_DATES, DATE)),
        }
    )
}
"""The mapping of a source's documents, which the pipeline behind the platform reads."""
