"""Clients that are slow on purpose, on real sockets, with deadlines of a fraction of a second."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar.types import Receive, Scope, Send

from longline.surfaces.connection import Deadlines
from longline.surfaces.server import HttpServer
from longline.surfaces.sse import EventStream, frame

SHORT = 0.2
LONG = 600.0
PATIENCE = 60.0
LARGE = 64 * 1024 * 1024
"""More than the buffers between two sockets hold."""


class App:
    """Reads the body and answers with its length, or with as many bytes as the path says, or with a stream."""

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
    """Frames for three times as long as any other answer may take."""
    for number in range(6):
        yield frame("tick", number)
        await asyncio.sleep(SHORT / 2)


@asynccontextmanager
async def served(deadlines: Deadlines) -> AsyncIterator[tuple[App, asyncio.StreamReader, asyncio.StreamWriter]]:
    """The app and one connection to it."""
    app, server = App(), HttpServer(deadlines)
    where = await server.start(app, "127.0.0.1", 0)
    # What is not read stays on its way: nobody reads ahead for the test.
    reader, writer = await asyncio.open_connection("127.0.0.1", int(where.rpartition(":")[2]), limit=1024)
    try:
        async with asyncio.timeout(PATIENCE):
            yield app, reader, writer
    finally:
        writer.transport.abort()
        app.over.set()
        await server.stop()


async def all_of(reader: asyncio.StreamReader) -> bytes:
    """Everything until the server hangs up, politely or not."""
    got = b""
    try:
        while piece := await reader.read(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def request(path: str, length: int = 0) -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode()


async def test_who_says_nothing_is_let_go():
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


async def test_an_answer_that_nobody_takes_is_cut():
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
