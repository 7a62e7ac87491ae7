"""The fast path: the requests that it answers itself, and its answers."""

from typing import Any

import msgspec
import pytest
from litestar.types import Message, Receive, Scope, Send

from longline.surfaces.fast_path import FastPath
from longline.surfaces.server.request_limits import MAX_BODY_BYTES
from tests.surfaces.small_door import Book, small_door

BODY = b'{"title": "B"}'


class Exchange:
    """One request to a fast path before an application that only records its call."""

    def __init__(self, path: str = "/books", method: str = "POST", origin: bool = False) -> None:
        headers = [(b"x-name", b"Ann"), *([(b"origin", b"https://a.example")] if origin else [])]
        self.scope: Any = {
            **{"type": "http", "method": method, "path": path},
            **{"query_string": b"", "headers": headers},
        }
        self.passed_on = False
        self.sent: list[Message] = []

    async def run(self, *pieces: bytes | None) -> "Exchange":
        """Send a body in pieces; None is the client's disconnect."""
        waiting = list(pieces)

        async def receive() -> Any:
            piece = waiting.pop(0)
            if piece is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

        async def send(message: Message) -> None:
            self.sent.append(message)

        async def framework(scope: Scope, receive: Receive, send: Send) -> None:
            self.passed_on = True

        await FastPath(framework, small_door([Book("A")]).endpoints())(self.scope, receive, send)
        return self

    @property
    def response(self) -> tuple[int, Any]:
        start, body = self.sent
        assert start["type"] == "http.response.start"
        assert body["type"] == "http.response.body"
        return start["status"], msgspec.json.decode(body["body"])


@pytest.mark.parametrize("path", ["/books", "/books/"])
async def test_a_fast_operation_bypasses_the_framework(path: str):
    exchange = await Exchange(path).run(BODY[:5], BODY[5:])
    assert not exchange.passed_on
    assert exchange.response == (201, {"title": "B of Ann"})
    assert exchange.scope["path_template"] == "/books", "for the access log"


@pytest.mark.parametrize(
    "other",
    [{"path": "/note"}, {"method": "GET"}, {"method": "PUT"}, {"path": "/books//"}, {"origin": True}],
)
async def test_other_requests_are_passed_to_the_framework(other: dict[str, Any]):
    exchange = await Exchange(**other).run(BODY)
    assert exchange.passed_on
    assert not exchange.sent


async def test_a_body_that_is_too_large_is_refused_before_it_is_read_whole():
    exchange = await Exchange().run(b"x" * MAX_BODY_BYTES, b"x", b"never read")
    assert exchange.response == (413, {"error": "Request Entity Too Large"})


async def test_a_client_that_is_gone_gets_no_response():
    exchange = await Exchange().run(b"{", None)
    assert not exchange.sent
