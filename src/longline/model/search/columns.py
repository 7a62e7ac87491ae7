"""The fields of items as columns: names in the order of the parser, and the types that JSON lacks."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

import orjson

TITLES = ("title", "name", "product_name", "headline")
BODIES = ("body", "text", "raw_text", "description")
"""Fields of a parser's result for the text of an item, the best first; `TITLES` are those for the title."""

TIMESTAMP, LOCAL_TIMESTAMP, DATE = "timestamp", "local_timestamp", "date"
"""Types of values that are texts in JSON: a time with an offset from UTC, a time without, a day."""

MAX_CACHED_COLUMNS = 1024


def encode_columns(fields: Mapping[str, Any]) -> str:
    """Return the names of fields as JSON; a field of a type that JSON lacks is a pair of name and type."""
    return orjson.dumps([_column(name, value) for name, value in fields.items()]).decode()


def _column(name: str, value: object) -> str | tuple[str, str]:
    safe = name.encode(errors="replace").decode()
    if isinstance(value, datetime):
        return safe, LOCAL_TIMESTAMP if value.tzinfo is None else TIMESTAMP
    return (safe, DATE) if isinstance(value, date) else safe


@lru_cache(MAX_CACHED_COLUMNS)
def decode_columns(columns: str) -> tuple[tuple[str, str | None], ...]:
    """Return the names of fields, each with its type if JSON lacks the type."""
    return tuple((c, None) if isinstance(c, str) else (c[0], c[1]) for c in orjson.loads(columns))
