"""Event streams on real sockets."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from litestar import Litestar, Response, route

from longline.surfaces.sse import EventStream, frame
from tests.surfaces.conftest import serving


class Source:
    """Frames given by hand, and the end of the stream."""

    def __init__(self, **settings: Any) -> None:
        self.frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.lost = asyncio.Event()
        self.left = asyncio.Event()
        self.begun = asyncio.Event()
        self.closed = asyncio.Event()
        self.settings = settings
        self.served = True

    async def is_served(self) -> bool:
        return self.served

    async def all(self) -> AsyncIterator[bytes]:
        try:
            while (data := await self.frames.get()) is not None:
                self.begun.set()
                yield data
        finally:
            self.closed.set()

    def app(self) -> Litestar:
        @route("/stream", http_method=["GET", "HEAD"])
        async def follow() -> Response[Any]:
            stream = EventStream(self.all(), self.left.set, self.lost, **self.settings)
            stream.serve_while(self.is_served)
            return stream

        return Litestar([follow], openapi_config=None, logging_config=None)


def test_a_frame_has_the_format_of_server_sent_events():
    assert frame("a:b", {"text": "one\ntwo"}) == b'event: a:b\ndata: {"text":"one\\ntwo"}\n\n'
    assert frame("x", 1, mark="7-8") == b"id: 7-8\nevent: x\ndata: 1\n\n"


async def test_frames_are_sent_at_once_and_the_end_closes_the_stream():
    source = Source()
    async with serving(source.app()) as client, client.stream("GET", "/stream") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        lines = answer.aiter_lines()
        source.frames.put_nowait(frame("one", {}))
        assert [await anext(lines) for _ in range(3)] == ["event: one", "data: {}", ""]
        assert not source.left.is_set()
        source.frames.put_nowait(None)
        assert [line async for line in lines] == []
        await asyncio.wait_for(asyncio.gather(source.left.wait(), source.closed.wait()), 60)


async def test_heartbeats_lose_no_frame():
    source = Source(heartbeat=0.01)
    async with serving(source.app()) as client, client.stream("GET", "/stream") as answer:
        lines = answer.aiter_lines()
        for number in range(3):
            while (line := await anext(lines)) in (":heartbeat", ""):
                if line:
                    source.frames.put_nowait(frame("n", number))
                    break
            while (line := await anext(lines)) in (":heartbeat", ""):
                pass
            assert (line, await anext(lines)) == ("event: n", f"data: {number}")


async def test_heartbeats_are_sent_between_frequent_frames_too():
    source = Source(heartbeat=0.05)

    async def talk() -> None:
        while True:
            source.frames.put_nowait(frame("n", {}))
            await asyncio.sleep(0.001)

    async with serving(source.app()) as client, client.stream("GET", "/stream") as answer:
        talking = asyncio.create_task(talk())
        beats = 0
        async with asyncio.timeout(60):
            async for line in answer.aiter_lines():
                beats += line == ":heartbeat"
                if beats == 2:
                    break
        talking.cancel()
    assert beats == 2


async def test_a_stream_ends_when_its_client_is_not_served_any_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longline.surfaces.sse.CREDENTIALS_CHECK_SECONDS", 0.02)
    source = Source()
    async with serving(source.app()) as client, client.stream("GET", "/stream") as answer:
        lines = answer.aiter_lines()
        source.frames.put_nowait(frame("one", {}))
        assert [await anext(lines) for _ in range(3)] == ["event: one", "data: {}", ""]
        source.served = False
        assert [line async for line in lines] == []
        await asyncio.wait_for(asyncio.gather(source.left.wait(), source.closed.wait()), 60)


async def test_a_client_that_goes_is_noticed():
    source = Source()
    async with serving(source.app()) as client:
        async with client.stream("GET", "/stream"):
            source.frames.put_nowait(frame("one", {}))
        await asyncio.wait_for(asyncio.gather(source.left.wait(), source.closed.wait()), 60)


async def deaf(client: httpx.AsyncClient) -> asyncio.StreamWriter:
    """Open a connection that sends a request and never reads."""
    where = httpx.URL(str(client.base_url))
    _, writer = await asyncio.open_connection(where.host, where.port, limit=1)
    writer.write(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
    return writer


@pytest.mark.parametrize("told", [False, True])
async def test_a_client_that_does_not_read_is_let_go(told: bool, caplog: pytest.LogCaptureFixture):
    """The server closes the stream after a timeout, or at once when its source is lost."""
    source = Source(patience=30.0 if told else 0.2)
    caplog.set_level(logging.INFO)
    async with serving(source.app()) as client:
        writer = await deaf(client)
        try:
            for _ in range(400):
                source.frames.put_nowait(b":" + b"x" * 65_536 + b"\n")
            if told:
                await asyncio.wait_for(source.begun.wait(), 60)
                source.lost.set()
            await asyncio.wait_for(asyncio.gather(source.left.wait(), source.closed.wait()), 60)
            assert source.frames.qsize() > 0, "the remaining frames were not taken from the source"
        finally:
            writer.transport.abort()
    assert "slow stream client" in caplog.text


async def test_an_error_during_a_stream_is_logged_and_ends_it(caplog: pytest.LogCaptureFixture):
    class Broken(Source):
        async def all(self) -> AsyncIterator[bytes]:
            yield frame("one", {})
            raise RuntimeError("why")

    source = Broken()
    async with serving(source.app()) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            async with client.stream("GET", "/stream") as answer:
                await answer.aread()
        await asyncio.wait_for(source.left.wait(), 60)
    assert "why" in caplog.text


async def test_head_gets_the_headers_of_a_stream_and_no_frame():
    source = Source()
    async with serving(source.app()) as client:
        answer = await asyncio.wait_for(client.head("/stream"), 10)
        # The client still has its connection: the stream ends by itself.
        await asyncio.wait_for(source.left.wait(), 10)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert not source.begun.is_set()
