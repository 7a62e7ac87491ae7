"""The envelope of the product-tasks contract: success and data, with a message on writes and the page on lists."""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import msgspec

from longline.surfaces.products.errors import ErrorCode

Data = TypeVar("Data")


class Pagination(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a page in its list; `total_is_bounded` is there if the total is a lower bound only."""

    page: int
    per_page: int
    total: int
    total_pages: int
    total_is_bounded: bool = False


class Success(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of an answer that was only read."""

    success: Literal[True]
    data: Data


class WriteSuccess(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of a change, with a sentence about it."""

    success: Literal[True]
    data: Data
    message: str


class ListSuccess(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of one page of a list."""

    success: Literal[True]
    data: list[Data]
    pagination: Pagination


class ErrorDetail(msgspec.Struct, frozen=True):
    """An error: a code for programs, a sentence for people, and the facts of the case."""

    code: ErrorCode
    message: str
    details: dict[str, Any]


class ProductFailure(msgspec.Struct, frozen=True):
    """The envelope of a failure."""

    success: Literal[False]
    error: ErrorDetail


_ENVELOPES = (Success, WriteSuccess, ListSuccess)


def written(data: Data, message: str) -> WriteSuccess[Data]:
    """Return the answer to a change."""
    return WriteSuccess(True, data, message)


def listed(items: list[Data], page: int, per_page: int, total: int, *, is_bounded: bool = False) -> ListSuccess[Data]:
    """Return one page of a list."""
    return ListSuccess(True, items, Pagination(page, per_page, total, -(-total // per_page), is_bounded))


def enveloped(value: Any) -> Any:
    """Return an answer in its envelope; writes and lists bring their own."""
    # The example of a list or of a write is given as plain JSON, in its envelope.
    is_whole = isinstance(value, _ENVELOPES) or (isinstance(value, Mapping) and value.get("success") is True)
    return value if is_whole else Success(True, value)


def enveloped_type(answer: Any) -> Any:
    """Return the type of an answer in its envelope."""
    found = answer if get_origin(answer) is None else get_origin(answer)
    return answer if found in _ENVELOPES and get_args(answer) else Success[answer]
