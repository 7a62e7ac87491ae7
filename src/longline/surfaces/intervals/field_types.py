"""Types of fields that several requests and responses of the interval contract share."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.timestamps import written
from longline.model.urls.url import BadUrl, parse

MAX_PAGE_SIZE = 250
MAX_OFFSET = 2**53
"""Larger than any list; databases do not accept arbitrarily large numbers."""
MAX_KEY_LENGTH = 500
MAX_NUMBER = 10**9
NO_NUL = r"^[^\u0000]*$"

_ABSOLUTE = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)


def absolute_url(text: str) -> str:
    """Return a URL with explicit scheme and host; raise `BadUrl` for text that only a browser would accept."""
    parse(text)
    if not _ABSOLUTE.match(text.strip()):
        raise BadUrl("bad_url", text, "it has no host")
    return text.strip()


def _url_problem(text: str) -> str | None:
    try:
        absolute_url(text)
    except BadUrl as bad:
        return str(bad) if text else None
    return None


Text = Annotated[str, Meta(pattern=NO_NUL)]
"""Text that every database accepts."""
Key = Annotated[Text, Meta(max_length=MAX_KEY_LENGTH)]
"""Text used as a lookup key: short enough for an index of every database, in any script."""
WebUrl = Annotated[
    str, Meta(description="Absolute HTTP URL.", extra_json_schema={"format": "uri"}, extra={"check": _url_problem})
]
"""A URL, or empty text, which each request treats in its own way."""
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time in RFC 3339, in UTC."""
JobId = Annotated[str, Meta(description="Id of a job.")]
CheckedJobId = Annotated[
    str,
    Meta(
        description="Id of a job. The text `undefined`, which scripts send without an id, is refused.",
        pattern="^(?!undefined$)",
        extra={"texts": {"pattern": "Invalid job ID"}},
    ),
]
Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE_SIZE, description="Entries of the page.")]
Offset = Annotated[int, Meta(ge=0, le=MAX_OFFSET, description="Entries before the page.")]


class PageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a list: one page of it."""

    limit: Limit = 50
    offset: Offset = 0


class MessageBody(msgspec.Struct, frozen=True):
    """The confirmation of an action."""

    message: str


def rfc3339(at: int) -> str:
    """Return UTC milliseconds as text."""
    return written(at)


def optional_rfc3339(at: int | None) -> str | None:
    """Return UTC milliseconds as text, None for None."""
    return None if at is None else written(at)
