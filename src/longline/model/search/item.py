"""An item is what was made of a page: an article, a product, whatever a parser yields."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from longline.model.search.tokenize import MAX_CHARACTERS, plain

TITLES = ("title", "name", "product_name", "headline")
BODIES = ("body", "text", "raw_text", "description")
"""Fields that a parser may say the title and the text of an item in, the best first."""

COUNTED = frozenset({"extraction"})
"""Kinds that are counted when they are indexed: they wait for whoever does both."""

PRODUCT = ("name", "price", "description", "availability")
"""What makes a product another one; a rating that moved does not."""

_KEY_BYTES = 16


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where items come from: the page and the task that fetched it."""

    run_id: int
    task_id: int
    url: str


class NewItem(msgspec.Struct, frozen=True, gc=False):
    """An item to be remembered. Inside its source `key` says which items are the same, `hash` whether they changed.

    `fields` is JSON of what has no column of its own. The columns from `price` on are what can be searched by. With its
    `words`, those of its title and of its body, it goes into the database's own index at once; without, it waits for
    whoever keeps the index.
    """

    key: bytes
    hash: str
    kind: str
    run_id: int
    task_id: int
    url: str
    title: str = ""
    body: str = ""
    fields: str = "{}"
    price: float | None = None
    rating: float | None = None
    availability: str | None = None
    brand: str | None = None
    category: str | None = None
    words: tuple[str, str] | None = None


class ItemRow(msgspec.Struct, frozen=True):
    """An item as stored. `run_id` and `task_id` are those that saw it last; `updated_at` moves when it changes."""

    id: int
    hash: str
    kind: str
    source_id: int
    run_id: int
    task_id: int
    url: str
    title: str
    body: str
    fields: str
    price: float | None
    rating: float | None
    availability: str | None
    brand: str | None
    category: str | None
    created_at: int
    updated_at: int


class SearchDocument(ItemRow, frozen=True):
    """An item as the index gets it, with the name of its source; empty for a crawl of no source."""

    source_name: str = ""


class Wordiness(msgspec.Struct, frozen=True):
    """How many words the documents of a source have on average, and how many of the documents have enough."""

    source_ref: str
    name: str
    base_url: str
    documents: int
    average: float
    enough: int


def new_items(
    made: Iterable[tuple[str, Mapping[str, Any]]], origin: Origin, *, in_words: bool = False
) -> list[NewItem]:
    """Items of one page from what its parser made, each a kind and fields; with their words if they are wanted."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for kind, fields in made:
        url = _text(fields.get("url")) or origin.url
        found.append(_new_item(kind, url, seen[kind, url], fields, origin))
        seen[kind, url] += 1
    return [_in_words(item) for item in found] if in_words else found


def _in_words(item: NewItem) -> NewItem:
    if item.kind in COUNTED:
        return item
    return msgspec.structs.replace(item, words=(plain(item.title), plain(item.body)))


def _new_item(kind: str, url: str, number: int, fields: Mapping[str, Any], origin: Origin) -> NewItem:
    title_in, body_in = _first(fields, TITLES), _first(fields, BODIES)
    title, body = _text(fields.get(title_in)), _text(fields.get(body_in))[:MAX_CHARACTERS]
    rest = _json({name: value for name, value in fields.items() if name not in ("url", title_in, body_in)})
    changes = "".join(_said(fields.get(name)) for name in PRODUCT) if kind == "product" else f"{title}\n{body}\n{rest}"
    # A parser may know better than we do what counts as a change.
    told = _text(fields.get("content_hash"))
    return NewItem(
        key=hashlib.sha256(f"{kind}\n{url}\n{number}".encode(errors="replace")).digest()[:_KEY_BYTES],
        hash=told or hashlib.sha256(changes.encode()).hexdigest(),
        kind=_text(kind),
        run_id=origin.run_id,
        task_id=origin.task_id,
        url=url,
        title=title,
        body=body,
        fields=rest,
        price=_number(fields.get("price")),
        rating=_number(fields.get("rating")),
        availability=_text(fields.get("availability")) or None,
        brand=_text(fields.get("brand")) or None,
        category=_text(fields.get("category")) or None,
    )


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if isinstance(fields.get(name), str)), names[0])


def _text(value: object) -> str:
    """Text that every engine takes: no database stores half a character, and PostgreSQL no NUL."""
    if not isinstance(value, str):
        return ""
    value = value.replace("\0", " ")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode(errors="replace").decode()
    return value


def _said(value: object) -> str:
    return _text(str(value)) if value is not None else ""


def _number(value: object) -> float | None:
    try:
        number = float(str(value)) if value is not None and not isinstance(value, bool) else None
    except ValueError:
        return None
    # What is not finite cannot be compared with, or sorted by.
    return number if number is not None and abs(number) < float("inf") else None


def _json(fields: dict[str, Any]) -> str:
    try:
        return orjson.dumps(fields, default=str, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:  # half characters, numbers of more than 64 bits
        return orjson.dumps({str(name): _text(str(value)) for name, value in sorted(fields.items())}).decode()
