"""Reading of request bodies and their fields."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Request

from longline.model.errors import BadInput
from longline.model.url import BadUrl, parse

Asked = Request[Any, Any, Any]

ABSOLUTE = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)

Text = Annotated[str, msgspec.Meta(pattern=r"^[^\0]*\Z")]
"""Text that every database accepts."""

EMPTY = "Invalid request body: it is empty"

MOST_KEY = 500
Key = Annotated[Text, msgspec.Meta(max_length=MOST_KEY)]
"""Text used as a lookup key: short enough for an index of every database, in any script."""


Shape = TypeVar("Shape")


def required(found: Shape | None) -> Shape:
    """Return the body that the framework has read; raise `BadInput` for a request without a body."""
    if found is None:
        raise BadInput(EMPTY)
    return found


async def body(request: Asked, *, optional: bool = False) -> dict[str, Any]:
    """Return the JSON object of the request body; raise `BadInput` for any other body."""
    sent = await request.body()
    if not sent and not optional:
        raise BadInput(EMPTY)
    try:
        found = msgspec.json.decode(sent or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadInput("Invalid request body: not JSON") from None
    if not isinstance(found, dict):
        raise BadInput("Invalid request body: not a JSON object")
    return found


def typed(found: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a field of that type, None if it is absent or null; raise `BadInput` for another type."""
    value = found.get(name)
    wrong = not isinstance(value, kind) or (kind is int and isinstance(value, bool))
    if value is not None and wrong:
        words = {str: "a string", int: "an integer", bool: "a boolean", dict: "an object", list: "a list"}
        raise BadInput(f"{name} must be {words[kind]}")
    if kind is int and value is not None and abs(value) > 10**9:
        raise BadInput(f"{name} is too large")
    if kind is str and value is not None and "\0" in value:
        raise BadInput(f"{name} has a NUL character")
    return value


def key(found: Mapping[str, Any], name: str) -> str | None:
    """Return a field that is used as a lookup key, None if it is absent, null or empty."""
    value: str | None = typed(found, name, str)
    if value is not None and len(value) > MOST_KEY:
        raise BadInput(f"{name} is too long")
    return value or None


def absolute(text: str) -> str:
    """Return a URL with explicit scheme and host; raise `BadInput` for text that only a browser would accept."""
    parse(text)
    if not ABSOLUTE.match(text.strip()):
        raise BadUrl("bad_url", text, "it has no host")
    return text.strip()


def switch(text: str | None) -> bool | None:
    """Return a boolean query parameter; None for text that is neither true nor false."""
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get((text or "").lower())


def known_id(uid: str) -> str:
    """Return an id of a path; raise `BadInput` for `undefined`, which scripts send without an id."""
    if uid == "undefined":
        raise BadInput("Invalid job ID")
    return uid


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}
