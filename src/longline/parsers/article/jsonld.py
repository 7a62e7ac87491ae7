"""The JSON-LD of an article in the fixed form of the index: each key has one type on all sites."""

import json
import re
from typing import Any

from longline.html.structured_data import Thing, as_list, text_value, types_of, url_values
from longline.parsers.dates import date_of

KINDS = ("NewsArticle", "Article", "BlogPosting", "PressRelease", "Event", "SpecialAnnouncement", "Report")
SCHEMA = "https://schema.org"

_NAMED = frozenset(("Event", "SpecialAnnouncement", "Report"))
MAX_RAW_CHARS = 100_000
"""Most characters of an article's JSON-LD that is kept as raw data."""


def find_article(things: list[Thing]) -> tuple[Thing, str] | None:
    """Return the first object of a type in `KINDS`, and the type."""
    for thing in things:
        kinds = types_of(thing)
        for kind in KINDS:
            if kind in kinds:
                return thing, kind
    return None


def headline(thing: Thing, kind: str) -> str:
    """Return the headline of the article, or the name of an event, announcement or report."""
    return text_value(thing.get("headline")) or (text_value(thing.get("name")) if kind in _NAMED else "")


def json_ld_data(thing: Thing, kind: str) -> dict[str, Any]:
    """Return the fields of an article's JSON-LD; missing or unusable values are left out."""
    fields = {
        "headline": headline(thing, kind),
        "description": text_value(thing.get("description") or thing.get("text")),
        "article_section": text_value(thing.get("articleSection")),
        "author": text_value(thing.get("author")),
        "publisher_name": text_value(thing.get("publisher")),
        "url": next(iter(url_values(thing.get("url"))), None),
        "image_url": next(iter(url_values(thing.get("image"))), None),
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
    """Return the date of publication, of the event's start, or of the announcement."""
    dates = (date_of(thing.get(name)) for name in ("datePublished", "startDate", "datePosted"))
    return next((date for date in dates if date), None)


def _whole(value: Any) -> int | None:
    """Return a word count, or None for values that are no number or too large for the index."""
    found = re.fullmatch(r"(\d{1,9})(?:\.0*)?", text_value(value).replace(",", ""))
    return int(found[1]) if found else None


def _keywords(value: Any) -> list[str]:
    words = value.split(",") if isinstance(value, str) else as_list(value)
    return [text for word in words if (text := text_value(word))]


def _place(value: Any) -> str:
    if isinstance(value, dict) and not value.get("name"):
        value = value.get("address")
    if isinstance(value, dict) and not value.get("name"):
        parts = ("streetAddress", "addressLocality", "addressRegion", "addressCountry")
        return ", ".join(filter(None, (text_value(value.get(part)) for part in parts)))
    return text_value(value)


def _raw(thing: Thing) -> Thing | None:
    """Return the whole object, each key with one type; a key with two types would break the index's mapping."""
    plain = dict(thing)
    plain["@context"] = _context(thing.get("@context"))
    plain["author"] = text_value(thing.get("author"))
    plain["publisher"] = text_value(thing.get("publisher"))
    plain["image"] = next(iter(url_values(thing.get("image"))), None)
    plain["mainEntityOfPage"] = next(iter(url_values(thing.get("mainEntityOfPage"))), None)
    plain["wordCount"] = text_value(thing.get("wordCount"))
    kept = {key: value for key, value in plain.items() if value not in (None, "")}
    return kept if len(json.dumps(kept)) <= MAX_RAW_CHARS else None


def _context(value: Any) -> str:
    for each in as_list(value):
        if isinstance(each, str) and each:
            return each
        if isinstance(each, dict) and isinstance(each.get("@vocab"), str):
            return str(each["@vocab"])
    return SCHEMA
