"""A small API for tests of the form that all APIs share."""

from typing import Annotated, Any

import msgspec

from longline.model.errors import Conflict, IllegalMove, NotFound, Unavailable
from longline.surfaces.door import PUBLIC, Access, Door, HttpRequest, OperationGroup
from longline.surfaces.error_format import ErrorFormat, error
from longline.surfaces.operation import ApiFailure, ApiResponse, Content, operation

FULL = error(507, "The shelf is full")


class Book(msgspec.Struct, frozen=True, omit_defaults=True):
    """A book."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=20, description="Its name.")]
    pages: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 1


class BookQuery(msgspec.Struct, frozen=True):
    """A selection of books."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    read: bool | None = None


class Sender(msgspec.Struct, frozen=True):
    """The headers of a reader."""

    name: str | None = msgspec.field(default=None, name="x-reader")


class Shelf(msgspec.Struct, frozen=True):
    """Books, and the parsed values of the request."""

    books: list[Book]
    limit: int
    reader: str | None = None


@operation("GET", "/books", "List books", aliases=["/all-books"])
async def list_books(services: list[Book], query: BookQuery, headers: Sender) -> Shelf:
    return Shelf(services, query.limit, headers.name)


@operation("POST", "/books", "Add a book", status=201, errors=[FULL], is_fast=True)
async def add_book(services: list[Book], body: Book, identity: str) -> Book:
    if len(services) == 3:
        raise ApiFailure(FULL)
    services.append(msgspec.structs.replace(body, title=f"{body.title} of {identity}"))
    return services[-1]


@operation("GET", "/books/{number}", "Return a book", access="public", answers={200: Book, 203: Book})
async def show_book(services: list[Book], number: int) -> ApiResponse[Book]:
    if number >= len(services):
        raise NotFound("book", number)
    return ApiResponse(services[number], 203, {"X-Shelf": "top"})


@operation("DELETE", "/books/{number}", "Remove a book", status=204)
async def remove_book(services: list[Book], number: int) -> None:
    del services[number]


@operation("PUT", "/note", "Write a note, or take it away", access="public")
async def write_note(body: Book | None) -> dict[str, bool]:
    return {"written": body is not None}


@operation("GET", "/text", "Return text", access="public", answers={200: Content("text/plain")})
async def show_text() -> Content:
    return Content("text/plain; charset=utf-8", b"plain")


FAULTS: dict[str, Exception] = {
    "conflict": Conflict("there already"),
    "move": IllegalMove("book", "read", "burnt", ()),
    "away": Unavailable("10.0.0.1 is down"),
    "bug": ZeroDivisionError("1/0"),
}


@operation("GET", "/faults/{name}", "Fail", access="public")
async def fail(name: str) -> dict[str, Any]:
    raise FAULTS[name]


def check(request: HttpRequest) -> str:
    """Let any caller in that gives a name."""
    name = request.header(b"x-name")
    if name is None:
        raise ApiFailure(error(401, "who are you?"))
    return name


OPERATIONS = (list_books, add_book, show_book, remove_book, write_note, show_text, fail)


def small_door(books: list[Book]) -> Door:
    """Return the API with these books."""
    return Door(
        name="small",
        title="Books",
        prefixes=("/books",),
        format=ErrorFormat({"book": "Book not found"}),
        groups=(OperationGroup("books", "Books.", OPERATIONS, books),),
        access={"public": PUBLIC, "token": Access(check, ("bearer",))},
    )
