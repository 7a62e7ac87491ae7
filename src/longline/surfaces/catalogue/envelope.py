"""The envelope of the catalogue contract: data, and for lists the numbers of the list."""

from typing import Any, Generic, TypeVar, get_origin

import msgspec

Data = TypeVar("Data")


class ListMeta(msgspec.Struct, frozen=True):
    """The numbers of a list and of the page of it."""

    total: int
    page: int
    limit: int
    pages: int


class CursorMeta(msgspec.Struct, frozen=True):
    """The number of all entries, and the cursor behind the last entry of the page."""

    total: int
    nextcursor: str | None


class One(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of one object, or of a list without pages."""

    data: Data


class Listed(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of one page of a list."""

    data: list[Data]
    meta: ListMeta


class CursorListed(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of a part of a list that a cursor continues."""

    data: list[Data]
    meta: CursorMeta


class FieldError(msgspec.Struct, frozen=True):
    """A field that breaks a rule."""

    field: str
    message: str


class CatalogueFailure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an error."""

    error: str
    code: str
    details: list[FieldError] = []


_ENVELOPES = (One, Listed, CursorListed)


def listed(items: list[Data], page: int, limit: int, total: int) -> Listed[Data]:
    """Return one page of a list."""
    return Listed(items, ListMeta(total, page, limit, -(-total // limit)))


def enveloped(value: Any) -> Any:
    """Return an answer in its envelope; lists bring their own."""
    is_whole = isinstance(value, _ENVELOPES) or (isinstance(value, dict) and "data" in value)
    return value if is_whole else One(value)


def enveloped_type(answer: Any) -> Any:
    """Return the type of an answer in its envelope."""
    return answer if (get_origin(answer) or answer) in _ENVELOPES else One[answer]
