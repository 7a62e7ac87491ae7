"""Dates as pages write them for machines."""

import re
from datetime import UTC, datetime

_ZONE = re.compile(r"([+-]\d{2})(\d{2})$")
_FRACTION = re.compile(r"(\.\d{6})\d+")


def date_of(text: object) -> str | None:
    """A date or a time in the one form that is stored, UTC unless it names a zone; None for what is none."""
    if not isinstance(text, str) or len(text) > 64:
        return None
    plain = _ZONE.sub(r"\1:\2", _FRACTION.sub(r"\1", text.strip()))
    try:
        at = datetime.fromisoformat(plain)
    except ValueError:
        return None
    # A week or an ordinal date would pass as well; nobody means one.
    if not re.match(r"\d{4}-\d{2}-\d{2}", plain):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()
