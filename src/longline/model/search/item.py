"""Items that parsers make of pages: articles, products and other kinds."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import orjson

from longline.model.search.item_columns import decode_columns, encode_columns
from longline.model.search.tokenize import MAX_CHARACTERS, words_of
from longline.model.storable_text import storable, storable_utf8

TITLES = ("title", "name", "product_name", "headline")
BODIES = ("body", "text", "raw_text", "description")
"""Fields of a parser's result for the text of an item, the best first; `TITLES` are those for the title."""

UNINDEXED_KINDS = frozenset({"extraction"})
"""Kinds that are no documents: they describe a page for the counters, and are not kept."""

PRODUCT = ("name", "price", "description", "availability")
"""Fields that count as a change of a product; the rating is none of them."""

MAX_POSITION = 2**63 - 1
"""Largest position of an item in its run."""

_KEY_BYTES = 16
_NO_WORDS = ("http://", "https://", "<", "{", "[")
"""Beginnings of texts that are no words: URLs, markup, JSON."""

ItemKey = str | int | tuple[str | int | None, ...] | None
"""A key that a parser gives to an item."""

Made = tuple[str, Mapping[str, Any]] | tuple[str, Mapping[str, Any], ItemKey]
"""A result of a parser: kind, fields, and the key if the parser gave one."""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The origin of items: the page and the task that fetched it."""

    run_id: int
    task_id: int
    url: str


class ItemFacts(msgspec.Struct, frozen=True, gc=False):
    """An item as its parser made it. `run_id` and `task_id` made this version of the item; another `hash` is a change.

    `fields` is JSON of all fields without a column. The columns from `price` on are for filters. `columns` is JSON of
    the names of all fields, in the order of the parser.
    """

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
    columns: str = "[]"


class NewItem(ItemFacts, frozen=True, kw_only=True, gc=False):
    """An item to be stored. Inside its source, items with the same `key` are the same.

    `name` is the key for a person; without one an item is known by its URL. A parser gave the key of a `named` item.
    With `words`, of its title and of its body, an item goes into the database's own index at once; without, the item
    waits for the indexer.
    """

    key: bytes
    name: str | None = None
    named: bool = False
    words: tuple[str, str] | None = None


class ItemsPut(msgspec.Struct, frozen=True):
    """The result of saving items outside a report: the number of new or changed items.

    `replaced` are the tasks whose pages were stored anew after the items had been made of them.
    """

    changed: int = 0
    replaced: frozenset[int] = frozenset()


class ItemRow(ItemFacts, frozen=True, kw_only=True, gc=False):
    """An item as stored, in one of its versions; `updated_at` is the time of the change that made the version."""

    name: str | None = None
    version: int = 1
    id: int
    source_id: int
    created_at: int
    updated_at: int


class RunItem(ItemRow, frozen=True, kw_only=True, gc=False):
    """An item of a run, with its position among the items of the run."""

    position: int


class SearchDocument(ItemRow, frozen=True, kw_only=True, gc=False):
    """An item for the index, with the name of its source; empty for a crawl without a source.

    `hash` is that of the mark by which the item waits for the index.
    """

    source_name: str = ""


class Wordiness(msgspec.Struct, frozen=True):
    """The average number of words of a source's documents, and the number of documents that have enough words."""

    source_ref: str
    name: str
    base_url: str
    documents: int
    average: float
    enough: int


class _Identity(NamedTuple):
    """The key of an item, its name for a person, and whether a parser gave the key."""

    key: bytes
    name: str | None = None
    named: bool = False


def new_items(made: Iterable[Made], origin: Origin, *, in_words: bool = False) -> list[NewItem]:
    """Return the items of one page from its parser's results; with words if `in_words`.

    An item without a key of its parser is known by its kind, its URL and its place among the items of both.
    """
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for kind, fields, *given in made:
        url = _text(fields.get("url")) or origin.url
        identity = _named(kind, given[0]) if given else None
        if identity is None:
            identity = _placed(kind, url, seen[kind, url])
            seen[kind, url] += 1
        found.append(_new_item(kind, url, identity, fields, origin))
    return [_in_words(item) for item in found] if in_words else found


def _named(kind: str, key: ItemKey) -> _Identity | None:
    """Return the identity that a parser gave to an item; None for an empty key."""
    parts = [_said(part) for part in (key if isinstance(key, tuple) else (key,))]
    if not any(parts):
        return None
    return _Identity(_key(f"{kind}\n\n{orjson.dumps(parts).decode()}"), " / ".join(parts), named=True)


def _placed(kind: str, url: str, number: int) -> _Identity:
    return _Identity(_key(f"{kind}\n{url}\n{number}"), f"{url} [{number + 1}]" if number else None)


def _key(identity: str) -> bytes:
    return hashlib.sha256(identity.encode(errors="replace")).digest()[:_KEY_BYTES]


def own_fields(item: ItemFacts) -> dict[str, Any]:
    """Return the fields of an item as its parser gave them, in their order; times and days are texts."""
    rest: dict[str, Any] = orjson.loads(item.fields)
    named = {name: rest[name] if name in rest else _held(item, name) for name, _ in decode_columns(item.columns)}
    return named | rest


def _held(item: ItemFacts, name: str) -> str:
    """Return the value of a field that a column of the item holds."""
    if name == "url":
        return item.url
    return item.title if name in TITLES else item.body


def searched_words(item: ItemFacts) -> tuple[str, str]:
    """Return the words by which an item is found: those of its title, and those of its body and other fields."""
    return words_of(item.title), words_of(f"{item.body} {field_text(item)}" if item.fields != "{}" else item.body)


def field_text(item: ItemFacts) -> str:
    """Return the texts of an item's fields without a column, also out of lists and nested values.

    URLs, markup and JSON are left out: their words say nothing about the item.
    """
    return " ".join(text for value in orjson.loads(item.fields).values() for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not value.startswith(_NO_WORDS):
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _in_words(item: NewItem) -> NewItem:
    if item.kind in UNINDEXED_KINDS:
        return item
    return msgspec.structs.replace(item, words=searched_words(item))


def _new_item(kind: str, url: str, identity: _Identity, fields: Mapping[str, Any], origin: Origin) -> NewItem:
    title_in, body_in = _first(fields, TITLES), _first(fields, BODIES)
    title, text = _text(fields.get(title_in)), fields.get(body_in)
    text = text if isinstance(text, str) else ""
    body, utf8 = storable_utf8(text[:MAX_CHARACTERS], " ")
    # A field stays among the others unless a column has its whole value.
    held = {title_in, body_in if len(text) <= MAX_CHARACTERS else "", "url" if url == fields.get("url") else ""}
    rest = _json({name: value for name, value in fields.items() if not name or name not in held})
    changes = _product_changes(fields) if kind == "product" else (f"{title}\n".encode(), utf8, f"\n{rest}".encode())
    if identity.named:
        changes = (*changes, f"\n{url}".encode())  # another page of an item with a key of its own is a change
    # A parser may decide for itself which changes count.
    given_hash = _text(fields.get("content_hash"))
    return NewItem(
        key=identity.key,
        name=identity.name,
        named=identity.named,
        hash=given_hash or hashlib.sha256(b"".join(changes)).hexdigest(),
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
        columns=encode_columns(fields),
    )


def _product_changes(fields: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(_said(fields.get(name)).encode() for name in PRODUCT)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if isinstance(fields.get(name), str)), "")


def _text(value: object) -> str:
    return storable(value, " ") if isinstance(value, str) else ""


def _said(value: object) -> str:
    return _text(str(value)) if value is not None else ""


def _number(value: object) -> float | None:
    try:
        number = float(str(value)) if value is not None and not isinstance(value, bool) else None
    except ValueError:
        return None
    # Numbers that are not finite cannot be compared or sorted.
    return number if number is not None and abs(number) < float("inf") else None


def _json(fields: dict[str, Any]) -> str:
    try:
        return orjson.dumps(fields, default=str, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:  # half characters, numbers of more than 64 bits
        return orjson.dumps({str(name): _text(str(value)) for name, value in sorted(fields.items())}).decode()
