"""The JSON-LD of an article in the fixed form in which it is indexed: each key has one type, whoever wrote it."""

import json
import re
from typing import Any

from longline.parsers.dates import date_of
from longline.plugins.html.structured import Thing, as_list, links_of, types_of, words_of

KINDS = ("NewsArticle", "Article", "BlogPosting", "PressRelease", "Event", "SpecialAnnouncement", "Report")
SCHEMA = "https://schema.org"

_NAMED = frozenset(("Event", "SpecialAnnouncement", "Report"))
MAX_RAW = 100_000
"""Characters of an article's whole JSON-LD; a larger one is not kept as it was."""


def find_article(things: list[Thing]) -> tuple[Thing, str] | None:
    """The first object that is an article of some kind, and the kind."""
    for thing in things:
        kinds = types_of(thing)
        for kind in KINDS:
            if kind in kinds:
                return thing, kind
    return None


def headline(thing: Thing, kind: str) -> str:
    """What the article is called."""
    return words_of(thing.get("headline")) or (words_of(thing.get("name")) if kind in _NAMED else "")


def json_ld_data(thing: Thing, kind: str) -> dict[str, Any]:
    """The fields of an article's JSON-LD; what is missing or unusable is left out."""
    fields = {
        "headline": headline(thing, kind),
        "description": words_of(thing.get("description") or thing.get("text")),
        "article_section": words_of(thing.get("articleSection")),
        "author": words_of(thing.get("author")),
        "publisher_name": words_of(thing.get("publisher")),
        "url": next(iter(links_of(thing.get("url"))), None),
        "image_url": next(iter(links_of(thing.get("image"))), None),
        "date_published": published(thing),
        "date_created": date_of(thing.get("dateCreated")),
        "date_modified": date_of(thing.get("dateModified")),
        "word_count": _whole(thing.get("wordCount")),
        "keywords": _keywords(thing.get("keywords")),
        "schema_type": kind,
        "location": _place(thing.get("location") or thing.get("contentLocation")),
        "raw": _raw(thing),
    }
    return {f"jsonld_{name}": value for name, value in fields.items() if value}


def published(thing: Thing) -> str | None:
    """When it was published, announced, or takes place."""
    dates = (date_of(thing.get(name)) for name in ("datePublished", "startDate", "datePosted"))
    return next((date for date in dates if date), None)


def _whole(value: Any) -> int | None:
    """A number of words; one that no index could hold is none."""
    found = re.fullmatch(r"(\d{1,9})(?:\.0*)?", words_of(value).replace(",", ""))
    return int(found[1]) if found else None


def _keywords(value: Any) -> list[str]:
    words = value.split(",") if isinstance(value, str) else as_list(value)
    return [text for word in words if (text := words_of(word))]


def _place(value: Any) -> str:
    if isinstance(value, dict) and not value.get("name"):
        value = value.get("address")
    if isinstance(value, dict) and not value.get("name"):
        parts = ("streetAddress", "addressLocality", "addressRegion", "addressCountry")
        return ", ".join(filter(None, (words_of(value.get(part)) for part in parts)))
    return words_of(value)


def _raw(thing: Thing) -> Thing | None:
    """All of it, each key of one type; the same key in two types would spoil an index for good."""
    plain = dict(thing)
    plain["@context"] = _context(thing.get("@context"))
    plain["author"] = words_of(thing.get("author"))
    plain["publisher"] = words_of(thing.get("publisher"))
    plain["image"] = next(iter(links_of(thing.get("image"))), None)
    plain["mainEntityOfPage"] = next(iter(links_of(thing.get("mainEntityOfPage"))), None)
    plain["wordCount"] = words_of(thing.get("wordCount"))
    kept = {key: value for key, value in plain.items() if value not in (None, "")}
    return kept if len(json.dumps(kept)) <= MAX_RAW else None


def _context(value: Any) -> str:
    for each in as_list(value):
        if isinstance(each, str) and each:
            return each
        if isinstance(each, dict) and isinstance(each.get("@vocab"), str):
            return str(each["@vocab"])
    return SCHEMA
