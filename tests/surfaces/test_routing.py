"""Routes and the fast path, over real HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest
from litestar import Litestar

from longline.surfaces.fast_path import FastPath
from longline.surfaces.routing import route_of
from longline.surfaces.server.request_limits import MAX_BODY_BYTES
from tests.surfaces.conftest import serving
from tests.surfaces.small_door import Book, small_door

ME = {"x-name": "Ann"}


@pytest.fixture
def books() -> list[Book]:
    return [Book("A", 7)]


@pytest.fixture(params=["framework", "fast path"])
async def api(request: pytest.FixtureRequest, books: list[Book]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the small API."""
    endpoints = list(small_door(books).endpoints())
    app = Litestar(
        [route_of(endpoint) for endpoint in endpoints],
        openapi_config=None,
        logging_config=None,
        request_max_body_size=MAX_BODY_BYTES,
    )
    if request.param == "fast path":
        app.asgi_handler = FastPath(app.asgi_handler, endpoints)
    async with serving(app) as client:
        yield client


async def test_operations_are_at_their_paths_and_aliases(api: httpx.AsyncClient):
    for path in ("/books", "/all-books"):
        answer = await api.get(path, headers=ME)
        assert answer.json() == {"books": [{"title": "A", "pages": 7}], "limit": 10, "reader": None}
        assert answer.headers["content-type"] == "application/json"


async def test_responses_have_their_status_headers_and_media_type(api: httpx.AsyncClient):
    shown = await api.get("/books/0")
    assert (shown.status_code, shown.headers["x-shelf"]) == (203, "top")
    text = await api.get("/text")
    assert (text.text, text.headers["content-type"]) == ("plain", "text/plain; charset=utf-8")
    assert (await api.delete("/books/0", headers=ME)).status_code == 204


@pytest.mark.parametrize("more", [{}, {"origin": "https://a.example"}])
async def test_a_post_is_answered_alike_with_and_without_the_framework(
    api: httpx.AsyncClient, books: list[Book], more: dict[str, str]
):
    for path in ("/books", "/books/"):
        answer = await api.post(path, json={"title": "B"}, headers=ME | more)
        assert (answer.status_code, answer.json()) == (201, {"title": "B of Ann"})
    assert len(books) == 3
    refused = await api.post("/books", json={"title": "C"}, headers=ME | more)
    assert (refused.status_code, refused.json()) == (507, {"error": "The shelf is full"})


async def test_a_body_that_is_too_large_is_refused_without_a_length(api: httpx.AsyncClient):
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 1_000_000 + 1):
            yield b" " * 1_000_000

    answer = await api.post("/books", content=chunks(), headers=ME)
    assert answer.status_code == 413


async def test_head_is_get_without_the_content(api: httpx.AsyncClient, books: list[Book]):
    for path, status in (("/books", 200), ("/all-books", 200), ("/books/0", 203), ("/books/9", 404)):
        whole, head = await api.get(path, headers=ME), await api.head(path, headers=ME)
        assert (head.status_code, head.content) == (status, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
        assert head.headers.get("x-shelf") == whole.headers.get("x-shelf")
    assert (await api.head("/books")).status_code == (await api.get("/books")).status_code
    assert len(books) == 1
