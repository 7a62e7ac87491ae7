"""The fields of items as columns: names in the order of the parser, and the types that JSON lacks."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

import orjson

TIMESTAMP, LOCAL_TIMESTAMP, DATE = "timestamp", "local_timestamp", "date"
"""Types of values that are texts in JSON: a time with an offset from UTC, a time without, a day."""

MAX_CACHED_COLUMNS = 1024


def encode_columns(fields: Mapping[str, Any]) -> str:
    """Return the names of fields as JSON; a field of a type that JSON lacks is a pair of name and type."""
    return _encoded(tuple([(name, _type(value)) for name, value in fields.items()]))


def _type(value: object) -> str | None:
    """Return the type of a value if JSON lacks it."""
    if isinstance(value, datetime):
        return LOCAL_TIMESTAMP if value.tzinfo is None else TIMESTAMP
    return DATE if isinstance(value, date) else None


@lru_cache(MAX_CACHED_COLUMNS)  # the items of a parser mostly have the same fields
def _encoded(columns: tuple[tuple[str, str | None], ...]) -> str:
    safe = ((name.encode(errors="replace").decode(), type_name) for name, type_name in columns)
    return orjson.dumps([name if type_name is None else (name, type_name) for name, type_name in safe]).decode()


@lru_cache(MAX_CACHED_COLUMNS)
def decode_columns(columns: str) -> tuple[tuple[str, str | None], ...]:
    """Return the names of fields, each with its type if JSON lacks the type."""
    return tuple((c, None) if isinstance(c, str) else (c[0], c[1]) for c in orjson.loads(columns))
