"""Responses as streams: the head first, the body in pieces, and the end of connections."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from longline.drivers.http import WreqHttp
from longline.drivers.http.dns import NameResolver
from longline.drivers.http.egress_guard import GuardedResolver
from longline.model.fetch.egress import AddressPolicy
from longline.ports.http import FetchFailed, Request, StreamedResponse
from tests.drivers.http.wire import Peer, keeps_answering, says, serving, to_loopback


@pytest.fixture
async def client() -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback)
    yield client
    await client.close()


async def body(stream: StreamedResponse) -> bytes:
    try:
        return b"".join([bytes(piece) async for piece in stream.pieces()])
    finally:
        await stream.close()


async def test_the_head_is_available_before_the_body_is_sent(client: WreqHttp):
    go = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nETag: x\r\nContent-Length: 6\r\n\r\nabc")
        await go.wait()
        await peer.send(b"def")

    async with serving(script) as server:
        stream = await client.open(Request(server.url("/a")))
        assert (stream.head.status, stream.head.header("etag"), stream.content_length) == (200, "x", 6)
        assert (stream.head.url, stream.head.body) == (server.url("/a"), b"")
        go.set()
        assert await body(stream) == b"abcdef"


async def test_a_connection_is_used_again_after_a_whole_body_and_closed_after_a_part(client: WreqHttp):
    async with serving(keeps_answering) as server:
        for _ in range(3):
            await body(await client.open(Request(server.url("/"))))
        assert server.taken == 1

    async def endless(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 100_000)
        await peer.goodbye()
        gone.set()

    gone = asyncio.Event()
    async with serving(endless) as server:
        stream = await client.open(Request(server.url("/")))
        async for _ in stream.pieces():
            break
        await stream.close()
        await asyncio.wait_for(gone.wait(), 10)


async def test_a_cancelled_reader_closes_its_connection(client: WreqHttp):
    gone, opened = asyncio.Event(), asyncio.Event()

    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        await peer.goodbye()
        gone.set()

    async with serving(silent) as server:
        task = asyncio.create_task(_read(client, server.url("/"), opened))
        await opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(gone.wait(), 10)


async def _read(client: WreqHttp, url: str, opened: asyncio.Event) -> bytes:
    stream = await client.open(Request(url))
    opened.set()
    return await body(stream)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "truncated"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123", "truncated"),
        (b"nonsense\r\n\r\n", "protocol"),
    ],
)
async def test_a_broken_body_is_a_failure(client: WreqHttp, answer: bytes, kind: str):
    async with serving(says(answer)) as server:
        with pytest.raises(FetchFailed) as failed:
            await body(await client.open(Request(server.url("/"))))
    assert failed.value.kind == kind


async def test_silence_in_the_middle_of_a_body_is_a_failure(client: WreqHttp):
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        await peer.goodbye()

    async with serving(silent) as server:
        stream = await client.open(Request(server.url("/"), idle_seconds=0.3))
        with pytest.raises(FetchFailed) as failed:
            await body(stream)
    assert failed.value.kind == "idle_timeout"


async def test_a_long_body_is_not_bound_by_the_time_for_the_head(client: WreqHttp):
    async def slow(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in range(5):
            await asyncio.sleep(0.2)
            await peer.send(b"x")

    async with serving(slow) as server:
        stream = await client.open(Request(server.url("/"), idle_seconds=5, total_seconds=0.6))
        assert await body(stream) == b"xxxxx"


async def test_the_egress_guard_checks_streams_too():
    client = WreqHttp(GuardedResolver(NameResolver().resolve, AddressPolicy()).resolve)
    async with serving(keeps_answering) as server:
        with pytest.raises(FetchFailed) as failed:
            await client.open(Request(server.url("/")))
    await client.close()
    assert (failed.value.kind, server.heads) == ("egress", [])
