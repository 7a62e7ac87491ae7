"""Slugs of sources: short names for paths, each taken once."""

import re
import unicodedata
from collections.abc import Iterable

MAX_SLUG_CHARS = 120


def slug_of(name: str) -> str:
    """Return the slug of a name: small letters, digits and hyphens; `source` for a name without any of them."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG_CHARS].strip("-") or "source"


def numbered_stem(slug: str) -> str:
    """Return the text with which every numbered form of a slug begins; a long slug loses its end to the number."""
    return f"{slug}-"[: MAX_SLUG_CHARS - 10]


def free_slug(slug: str, taken: Iterable[str]) -> str:
    """Return a slug that is not taken: the slug itself, or with the first free number from 2 behind it."""
    known = set(taken)
    if slug not in known:
        return slug
    number = 2
    while (numbered := f"{slug[: MAX_SLUG_CHARS - len(str(number)) - 1]}-{number}") in known:
        number += 1
    return numbered
