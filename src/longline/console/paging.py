"""Pages of lists, each read with one row more than it shows."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def page_of(found: Sequence[T], size: int) -> tuple[Sequence[T], T | None]:
    """Return the rows of a page, and the last of them if more follow: the list goes on behind it."""
    return found[:size], found[size - 1] if len(found) > size else None
