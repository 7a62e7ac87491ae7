"""A request with a field of every kind, for the tests of requests."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.surfaces.field_problems import Problem


def _even(value: int) -> str | None:
    return "even numbers only" if value % 2 else None


class Inner(msgspec.Struct, frozen=True):
    """A part of a request."""

    size: Annotated[int, Meta(ge=1)]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A request with a field of every kind."""

    name: Annotated[str, Meta(min_length=1, max_length=5, pattern="^[a-z]*$")]
    count: Annotated[int, Meta(ge=0, le=10)] = 1
    even: Annotated[int, Meta(extra={"check": _even})] | None = None
    kind: Annotated[Literal["a", "b"], Meta(extra={"texts": {"choice": "no such kind: {value}"}})] = "a"
    tags: Annotated[list[str], Meta(min_length=1, max_length=2)] | None = None
    on: bool | UnsetType = UNSET
    at: datetime | None = None
    inner: Inner | None = None
    rate: str | int | float = ""

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        if sent.get("on") is True and not sent.get("count", 1):
            yield Problem("count", "check", "count is needed when on")
