"""Uses of a source: the APIs that crawl it, and its slug."""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from longline.model.errors import Conflict

MAX_SLUG_CHARS = 120


class SourceUse(StrEnum):
    """An API that crawls a source. Another API shows the source, and leaves it alone."""

    INTERVAL = "interval"
    MANIFESTS = "manifests"
    PRODUCTS = "products"
    CATALOGUE = "catalogue"


class Taken(Conflict):
    """A unique field whose value another source has; `field` names the field."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def encode_uses(uses: Iterable[SourceUse]) -> str:
    """Return uses as they are stored."""
    return msgspec.json.encode(sorted(set(uses))).decode()


def decode_uses(text: str) -> frozenset[SourceUse]:
    """Return the uses of a stored text."""
    return frozenset(msgspec.json.decode(text, type=list[SourceUse]))


def with_use(text: str, use: SourceUse) -> str:
    """Return stored uses with one more."""
    return encode_uses(decode_uses(text) | {use})


def without_use(text: str, use: SourceUse) -> str:
    """Return stored uses without one of them."""
    return encode_uses(decode_uses(text) - {use})


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
