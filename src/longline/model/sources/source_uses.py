"""Uses of a source: the APIs that crawl it."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class SourceUse(StrEnum):
    """An API that crawls a source. Another API shows the source, and leaves it alone."""

    INTERVAL = "interval"
    MANIFESTS = "manifests"
    PRODUCTS = "products"
    CATALOGUE = "catalogue"


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
