"""Types of fields that several requests and responses of the interval contract share."""

from typing import Annotated

import msgspec

from longline.model.timestamps import written

MAX_PAGE_SIZE = 250
MAX_OFFSET = 2**53
"""Larger than any list; databases do not accept arbitrarily large numbers."""
MAX_KEY_LENGTH = 500
MAX_NUMBER = 10**9
NO_NUL = r"^[^\u0000]*$"

Text = Annotated[str, msgspec.Meta(pattern=NO_NUL)]
"""Text that every database accepts."""
Key = Annotated[Text, msgspec.Meta(max_length=MAX_KEY_LENGTH)]
"""Text used as a lookup key: short enough for an index of every database, in any script."""
Timestamp = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
"""A time in RFC 3339, in UTC."""
Limit = Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE_SIZE, description="Entries of the page.")]
Offset = Annotated[int, msgspec.Meta(ge=0, le=MAX_OFFSET, description="Entries before the page.")]


class PageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a list: one page of it."""

    limit: Limit = 50
    offset: Offset = 0


def rfc3339(at: int) -> str:
    """Return UTC milliseconds as text."""
    return written(at)


def optional_rfc3339(at: int | None) -> str | None:
    """Return UTC milliseconds as text, None for None."""
    return None if at is None else written(at)
