"""Clients that are slow on purpose, on real sockets, with deadlines of a fraction of a second."""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from litestar import Litestar, Request, post
from litestar.params import JSONBody
from litestar.types import Receive, Scope, Send

from longline.surfaces.server.connection import Deadlines
from longline.surfaces.server.http_server import HttpServer
from longline.surfaces.server.request_limits import MAX_BODY_BYTES
from longline.surfaces.sse import EventStream, frame
from tests.surfaces.conftest import Stage

SHORT = 0.2
LONG = 600.0
PATIENCE = 60.0
LARGE = 64 * 1024 * 1024
"""More than the buffers between two sockets hold."""


class App:
    """An app that reads the body and answers with its length, with as many bytes as the path says, or with a stream."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.gone, self.over = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == "/stream":
            await EventStream(ticks(), lambda: None).to_asgi_response()(scope, receive, send)
            return
        if path == "/never":
            await self.over.wait()
            return
        size, more = 0, True
        while more:
            message: Any = await receive()
            self.seen.append(message["type"])
            if message["type"] == "http.disconnect":
                self.gone.set()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        body = b"x" * LARGE if path == "/large" else str(size).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


async def ticks() -> AsyncIterator[bytes]:
    """Yield frames for three times as long as any other answer may take."""
    for number in range(6):
        yield frame("tick", number)
        await asyncio.sleep(SHORT / 2)


def application() -> Litestar:
    """Return the platform's application, with two doors that read bodies."""

    @post("/shape")
    async def shape(data: JSONBody[dict[str, int]]) -> dict[str, int]:
        return data

    @post("/raw")
    async def raw(request: Request[Any, Any, Any]) -> int:
        return len(await request.body())

    app = Stage().app
    for door in (shape, raw):
        app.register(door)
    return app


@asynccontextmanager
async def framed() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield one connection to the platform's application, with deadlines longer than any test."""
    async with served(Deadlines(LONG, LONG, LONG), application()) as (_, reader, writer):
        yield reader, writer


@asynccontextmanager
async def served(
    deadlines: Deadlines, other: Litestar | None = None
) -> AsyncIterator[tuple[App, asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield the app, or another one, and one connection to it."""
    app, server = App(), HttpServer(deadlines)
    where = await server.start(other or app, "127.0.0.1", 0)
    # Unread bytes stay in the socket: the stream reads nothing ahead of the test.
    reader, writer = await asyncio.open_connection("127.0.0.1", int(where.rpartition(":")[2]), limit=1024)
    try:
        async with asyncio.timeout(PATIENCE):
            yield app, reader, writer
    finally:
        writer.transport.abort()
        app.over.set()
        await server.stop()


async def all_of(reader: asyncio.StreamReader) -> bytes:
    """Return all bytes until the server closes or resets the connection."""
    got = b""
    try:
        while piece := await reader.read(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def request(path: str, length: int = 0) -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode()


async def test_a_silent_client_is_disconnected():
    async with served(Deadlines(SHORT, LONG, LONG)) as (app, reader, _):
        assert await all_of(reader) == b""
        assert app.seen == []


async def test_a_head_that_does_not_end_is_answered():
    async with served(Deadlines(SHORT, LONG, LONG)) as (app, reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n")
        assert (await all_of(reader)).startswith(b"HTTP/1.1 408 ")
        assert app.seen == []


async def test_a_body_that_does_not_end_is_answered_and_its_reader_hears_so():
    async with served(Deadlines(SHORT, LONG, LONG)) as (app, reader, writer):
        writer.write(request("/", length=10) + b"12345")
        answer = await all_of(reader)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b'\r\n\r\n{"error":"Request timed out"}')
        await app.gone.wait()


async def test_a_second_request_has_as_long_as_the_first():
    async with served(Deadlines(SHORT, LONG, LONG)) as (_, reader, writer):
        writer.write(request("/", length=2) + b"ab")
        assert await reader.readuntil(b"\r\n\r\n2")
        await asyncio.sleep(2 * SHORT)
        writer.write(request("/", length=3) + b"abc")
        assert await reader.readuntil(b"\r\n\r\n3")
        writer.write(request("/", length=3) + b"ab")
        assert (await all_of(reader)).startswith(b"HTTP/1.1 408 ")


async def test_an_answer_that_does_not_come_is_cut():
    async with served(Deadlines(LONG, SHORT, LONG)) as (_, reader, writer):
        writer.write(request("/never"))
        assert await all_of(reader) == b""


async def test_an_answer_that_the_client_does_not_read_is_cut():
    async with served(Deadlines(LONG, SHORT, LONG)) as (_, reader, writer):
        writer.write(request("/large"))
        assert await reader.readuntil(b"\r\n\r\n")
        transport: Any = writer.transport
        transport.pause_reading()
        await asyncio.sleep(3 * SHORT)
        transport.resume_reading()
        assert len(await all_of(reader)) < LARGE


async def test_a_stream_outlives_every_deadline():
    async with served(Deadlines(SHORT, SHORT, SHORT)) as (_, reader, writer):
        writer.write(request("/stream"))
        assert (await all_of(reader)).count(b"event: tick\n") == 6


async def test_a_connection_is_kept_for_a_while():
    async with served(Deadlines(LONG, LONG, SHORT)) as (_, reader, writer):
        writer.write(request("/", length=2) + b"ab")
        assert (await all_of(reader)).endswith(b"\r\n\r\n2"), "and then it is closed"


HUGE = 99_999_999_999


def head(*fields: str, line: str = "POST / HTTP/1.1") -> bytes:
    return "\r\n".join((line, *fields, "", "")).encode()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (head("host: x", f"content-length: {HUGE}"), 413),
        (head("host: x", "content-length: 10000001"), 413),
        (head("host: x", f"content-length: {HUGE}", line="GET /health HTTP/1.1"), 413),
        (head("host: x", f"content-length: {HUGE}", "expect: 100-continue"), 413),
        (head("host: x", f"content-length: {HUGE}") + b"x" * 100_000, 413),
        (head("host: x", "content-length: 9" + "9" * 30), 413),
        (head("host: x", f"content-length: {'0' * 5_000}10000001"), 413),
        (head("host: x", "content-length: x"), 400),
        (head("host: x", "ho st: x"), 400),
        (head(), 400),
        (head("host: x", "host: y"), 400),
        (head("host: x", "Host: x"), 400),
        (head("host: a b"), 400),
        (head("host: a/b"), 400),
        (head("host: user@a"), 400),
        (head(line="GET http://x/ HTTP/1.1"), 400),
        (head(line="GET /health HTTP/0.9"), 400),
        (b"GET /health\r\n", 400),
        (b"GET /health\n", 400),
        (head(line="GET /health HTTP/2.0"), 400),
        (b"nonsense\r\n\r\n", 400),
        (head("host: x", *(f"x-{n}: {'y' * 1000}" for n in range(70)))[:-2], 431),
        (head("host: x", *(f"x-{n}: {'y' * 1000}" for n in range(70))), 431),
        (head("host: x", f"x: {'y' * 70_000}", line="GET /health HTTP/1.1"), 431),
    ],
)
async def test_a_malformed_request_is_refused_at_once_and_the_connection_ends(sent: bytes, status: int):
    async with framed() as (reader, writer):
        writer.write(sent)
        answer = await all_of(reader)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer
        assert b"}HTTP/1.1" not in answer
        assert b"connection: close\r\n" in answer
        assert isinstance(json.loads(answer.partition(b"\r\n\r\n")[2])["error"], str)


@pytest.mark.parametrize(
    "sent",
    [
        head("host: x", line="GET /health HTTP/1.1"),
        head("host:", line="GET /health HTTP/1.1"),
        head("host: [::1]:80", line="GET /health HTTP/1.1"),
        head("host: x:", line="GET http://x/health HTTP/1.1"),
        head(line="GET /health HTTP/1.0"),
        head("host: x", "content-length: 0", line="GET /health HTTP/1.1"),
    ],
)
async def test_unusual_requests_that_the_standard_allows_are_answered(sent: bytes):
    async with framed() as (reader, writer):
        writer.write(sent)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")


async def test_a_body_in_chunks_is_refused_when_it_becomes_too_large():
    async with framed() as (reader, writer):
        writer.write(head("host: x", "transfer-encoding: chunked", line="POST /shape HTTP/1.1"))
        piece = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))
        sent, reading = 0, asyncio.create_task(all_of(reader))
        with contextlib.suppress(ConnectionError):
            while sent < 5 * MAX_BODY_BYTES and not reading.done():
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
                await asyncio.sleep(0)
        assert reading.done(), "the server reads on and on"
        answer = reading.result()
        assert answer.startswith(b"HTTP/1.1 413 "), answer
        assert b"connection: close\r\n" in answer


async def test_expect_100_continue_is_answered_before_the_body_is_sent():
    async with framed() as (reader, writer):
        fields = ("host: x", "content-type: application/json", "content-length: 7", "expect: 100-continue")
        writer.write(head(*fields, line="POST /shape HTTP/1.1"))
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        writer.write(b'{"a":1}')
        assert b"HTTP/1.1 201 " in await reader.readuntil(b'{"a":1}')


async def test_a_refusal_comes_after_the_answers_before_it():
    async with framed() as (reader, writer):
        good = head("host: x", line="GET /health HTTP/1.1")
        writer.write(good + head(line="GET /health HTTP/1.1") + good)
        answer = await all_of(reader)
        assert re.findall(rb"HTTP/1\.1 (\d+) ", answer) == [b"200", b"400"]


async def test_a_response_is_finished_before_the_refusal_of_a_malformed_second_request():
    async with framed() as (reader, writer):
        writer.write(head("host: x", line="GET /health HTTP/1.1") + b"\x00\x01nonsense\r\n\r\n")
        answer = await all_of(reader)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"}")


@pytest.mark.parametrize("path", ["/nowhere", "/health", "/shape"])
@pytest.mark.parametrize(
    ("coding", "body"), [("banana", b"0\r\n\r\n"), ("chunked", b"zz\r\n"), ("chunked", b"1\r\na\r\nzz\r\n")]
)
async def test_a_malformed_body_is_refused_without_an_error_in_the_log(
    path: str, coding: str, body: bytes, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    async with framed() as (reader, writer):
        writer.write(head("host: x", f"transfer-encoding: {coding}", line=f"POST {path} HTTP/1.1") + body)
        status = (await all_of(reader))[9:12].decode()
        assert status.startswith("4")
        await asyncio.sleep(0.05)
    said = [record.getMessage() for record in caplog.records if record.name == "longline.access"]
    assert said == [f"POST {path} {status}"], "the log has the status that the client read"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("path", ["/shape", "/raw"])
async def test_a_client_that_goes_away_in_mid_body_is_no_error_of_ours(
    path: str, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
):
    caplog.set_level(logging.INFO)
    told, access = asyncio.Event(), logging.getLogger("longline.access")

    def hear(_: logging.LogRecord) -> bool:
        told.set()
        return True

    access.addFilter(hear)
    request.addfinalizer(lambda: access.removeFilter(hear))
    async with framed() as (_, writer):
        writer.write(head("host: x", "content-length: 100", line=f"POST {path} HTTP/1.1") + b'{"a"')
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()
        await told.wait()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert [record.getMessage() for record in caplog.records if record.name == "longline.access"] == [
        f"POST {path} 499"
    ]
