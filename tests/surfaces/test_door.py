"""Endpoints: the execution of operations, without a server."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from longline.surfaces.door import HttpRequest
from longline.surfaces.operation import NO_HEADERS
from tests.surfaces.small_door import Book, small_door

ME = [(b"x-name", b"Ann")]


async def ask(
    name: str,
    path_values: Mapping[str, str] = NO_HEADERS,
    query: bytes = b"",
    body: bytes = b"",
    headers: list[tuple[bytes, bytes]] | None = None,
    books: list[Book] | None = None,
) -> tuple[int, Any]:
    """Return the status and the decoded body of a response."""
    endpoints = {endpoint.operation.name: endpoint for endpoint in small_door(books or []).endpoints()}
    request = HttpRequest(path_values, query, ME if headers is None else headers, body)
    response = await endpoints[name].answer(request)
    assert isinstance(response.body, bytes)
    return response.status, msgspec.json.decode(response.body) if response.body else None


async def test_a_handler_gets_the_services_the_query_and_the_headers():
    headers = [*ME, (b"x-reader", b"Bob")]
    found = await ask("list_books", query=b"limit=7", headers=headers, books=[Book("A")])
    assert found == (200, {"books": [{"title": "A"}], "limit": 7, "reader": "Bob"})


@pytest.mark.parametrize(("query", "limit"), [(b"", 10), (b"limit=x", 10), (b"limit=999", 100), (b"limit=-1", 10)])
async def test_wrong_values_of_a_query_mean_the_default_and_large_ones_the_bound(query: bytes, limit: int):
    assert (await ask("list_books", query=query))[1]["limit"] == limit


async def test_a_handler_gets_the_body_and_the_identity_of_the_caller():
    assert await ask("add_book", body=b'{"title": "A"}') == (201, {"title": "A of Ann"})


async def test_the_access_is_checked_before_the_body_is_read():
    assert await ask("add_book", body=b"{", headers=[]) == (401, {"error": "who are you?"})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "Invalid request body: it is empty"),
        (b" \n", "Invalid request body: it is empty"),
        (b"{", "Invalid request body: not JSON"),
        (b"\xff", "Invalid request body: not JSON"),
        (b"[" * 100_000, "Invalid request body: not JSON"),
        (b"[]", "Invalid request body: not a JSON object"),
        (b"{}", "title is required"),
        (b'{"title": 1}', "title must be a string"),
        (b'{"title": "A", "pages": true}', "pages must be an integer"),
        (b'{"title": "A", "pages": 0}', "pages must be at least 1"),
    ],
)
async def test_a_body_that_cannot_be_read_is_explained(body: bytes, text: str):
    assert await ask("add_book", body=body) == (400, {"error": text})


async def test_a_declared_error_is_answered_as_declared():
    full = [Book("A"), Book("B"), Book("C")]
    assert await ask("add_book", body=b'{"title": "D"}', books=full) == (507, {"error": "The shelf is full"})


async def test_a_missing_object_is_answered_in_the_words_of_its_noun():
    assert await ask("show_book", {"number": "3"}) == (404, {"error": "Book not found"})


async def test_a_parameter_of_the_path_has_its_type():
    assert (await ask("show_book", {"number": "0"}, books=[Book("A")]))[1] == {"title": "A"}
    assert (await ask("show_book", {"number": "x"}))[0] == 400


async def test_a_response_may_have_another_status_and_none_a_body():
    assert (await ask("show_book", {"number": "0"}, books=[Book("A")]))[0] == 203
    assert await ask("remove_book", {"number": "0"}, books=[Book("A")]) == (204, None)


async def test_a_body_may_be_left_out_where_it_is_optional():
    assert await ask("write_note") == (200, {"written": False})
    assert await ask("write_note", body=b'{"title": "A"}') == (200, {"written": True})
