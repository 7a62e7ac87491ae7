"""Documents in OpenSearch for the pipeline behind the platform: names of indexes, ids and shapes."""

import hashlib
import re
from typing import Any

import orjson

from longline.model.search.item import SearchDocument
from longline.model.timestamps import written
from longline.model.urls.url import BadUrl, parse

RAW_CONTENT = frozenset({"article"})
"""Kinds of items that become documents of the pipeline."""

SUFFIX = "_raw_content"
PENDING = "pending"
MAX_TERM_CHARACTERS = 8191
"""Largest length of a keyword in characters, of which each may be four bytes."""

TEXTS = ("meta_description", "og_title", "og_description", "author", "article_section")
KEYWORDS = ("meta_keywords", "og_type", "og_image", "canonical_url")
ALWAYS = ("meta_description", "og_type", "og_title", "og_description")
"""Fields that are empty texts where a page does not have them."""

META_KEYWORDS = (
    *("page_type", "detected_content_type", "article_opinion", "article_content_tier", "twitter_card", "twitter_site"),
    *("og_image_width", "og_image_height", "og_site_name", "indigenous_region"),
)
META_DATES = ("created_at", "updated_at")
LINKED_TEXTS = ("jsonld_headline", "jsonld_description", "jsonld_location")
LINKED_KEYWORDS = (
    *("jsonld_article_section", "jsonld_author", "jsonld_publisher_name", "jsonld_url", "jsonld_image_url"),
    *("jsonld_keywords", "jsonld_schema_type"),
)
LINKED_DATES = ("jsonld_date_published", "jsonld_date_created", "jsonld_date_modified")

_OUTSIDE = re.compile(r"[^a-z0-9_]+|_{2,}")


def index_prefix(name: str) -> str:
    """Return the name of a source as part of an index's name; every reader must use the same form."""
    return re.sub(r"_+", "_", _OUTSIDE.sub("_", name.lower())).strip("_") or "unknown"


def index_of(document: SearchDocument) -> str:
    """Return the index of a document."""
    return index_for(document.source_name, document.url)


def index_for(source_name: str, url: str) -> str:
    """Return the index for the document of a page: by its source, or by its host where it has no source."""
    return index_prefix(source_name or _host(url)) + SUFFIX


def document_id(document: SearchDocument) -> str:
    """Return the id of a document: a hash of its URL, so that a recrawl overwrites the document."""
    return hashlib.sha256(document.url.encode()).hexdigest()


def raw_content(document: SearchDocument) -> dict[str, Any]:
    """Return the document as stored: the item's fields under the names that the mapping knows, and no others."""
    fields: dict[str, Any] = orjson.loads(document.fields)
    meta = _part(fields, "meta")
    times = {"created_at": written(document.created_at), "updated_at": written(document.updated_at)}
    known = _held(fields, (*TEXTS, *KEYWORDS, "raw_html"))
    if linked := _held(_part(fields, "json_ld_data"), _LINKED):
        known["json_ld_data"] = linked
    return {
        **dict.fromkeys(ALWAYS, ""),
        **known,
        "id": document_id(document),
        "url": document.url,
        "source_name": document.source_name or _host(document.url),
        "title": document.title,
        "raw_text": document.body,
        "published_date": fields.get("published_date"),
        "meta": _held(meta, META_KEYWORDS) | times,
        "classification_status": PENDING,
        "crawled_at": written(document.updated_at),
        "word_count": len(document.body.split()),
    }


_LINKED = (*LINKED_TEXTS, *LINKED_KEYWORDS, *LINKED_DATES, "jsonld_word_count", "jsonld_raw")
_TERMS = frozenset((*KEYWORDS, *META_KEYWORDS, *LINKED_KEYWORDS))


def _held(part: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of these names, without keywords that are too long: the index would refuse the document."""
    said = {name: part[name] for name in names if part.get(name)}
    return {name: value for name, value in said.items() if name not in _TERMS or _fits(value)}


def _fits(value: Any) -> bool:
    return all(len(str(term)) <= MAX_TERM_CHARACTERS for term in (value if isinstance(value, list) else (value,)))


def _part(fields: dict[str, Any], name: str) -> dict[str, Any]:
    part = fields.get(name)
    return part if isinstance(part, dict) else {}


def _host(url: str) -> str:
    try:
        return parse(url).hostname
    except BadUrl:
        return ""
