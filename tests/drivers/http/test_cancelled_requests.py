"""Requests that are cancelled around the arrival of their response: no connection stays open.

The server counts its open connections. A client that closes a connection with unread bytes resets it: a reset is a
close.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest

from longline.drivers.http import WreqHttp
from longline.drivers.http.connection_pool import TlsSettings
from longline.model.proxies.proxy_uri import ProxyScheme
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import Peer, Server, serving, to_loopback
from tests.servers.proxies import Manners, running_proxy

TRIES = 60
Send = Callable[[WreqHttp, str], Awaitable[object]]


@pytest.fixture
async def client() -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback, tls=TlsSettings(verify=False))
    yield client
    await client.close()


async def opened(client: WreqHttp, url: str) -> object:
    return await client.open(Request(url))


async def streamed(client: WreqHttp, url: str) -> object:
    stream = await client.open(Request(url))
    try:
        return [bytes(piece) async for piece in stream.pieces()]
    finally:
        await stream.close()


async def fetched(client: WreqHttp, url: str) -> object:
    return await client.fetch(Request(url))


async def posted(client: WreqHttp, url: str) -> object:
    return await client.fetch(Request(url, method="POST", body=b"{}"))


async def timed(client: WreqHttp, url: str) -> object:
    with suppress(FetchFailed):
        return await client.open(Request(url, total_seconds=random.uniform(0.001, 0.004)))
    return None


class Origin:
    """A server that sends the head and a part of each body, and reports when."""

    def __init__(self) -> None:
        self.answered = asyncio.Event()

    async def script(self, peer: Peer) -> None:
        if await peer.request():
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            self.answered.set()
            await peer.goodbye()


async def _pause() -> None:
    """Let the loop run a few times, or a random part of the time that a response takes."""
    for _ in range(random.randrange(4)):
        await asyncio.sleep(0)
    if random.random() < 0.5:
        await asyncio.sleep(random.uniform(0, 0.003))


async def _cancel_around_the_response(client: WreqHttp, send: Send, server: Server, origin: Origin, url: str) -> None:
    origin.answered.clear()
    task = asyncio.ensure_future(send(client, url))
    answered = asyncio.ensure_future(origin.answered.wait())
    await asyncio.wait((task, answered), return_when=asyncio.FIRST_COMPLETED)
    answered.cancel()
    await _pause()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    del task  # and with it a response that no caller has taken
    async with asyncio.timeout(10):
        await server.until_open(0)


@pytest.mark.parametrize("send", [opened, streamed, fetched, posted, timed])
async def test_a_cancelled_request_leaves_no_connection(client: WreqHttp, send: Send):
    origin = Origin()
    async with serving(origin.script) as server:
        for _ in range(TRIES):
            await _cancel_around_the_response(client, send, server, origin, server.url("/"))


@pytest.mark.parametrize(("scheme", "secure"), [("http", True), ("socks5", False), ("socks5", True)])
@pytest.mark.parametrize("method", ["open", "fetch"])
async def test_a_cancelled_request_leaves_no_tunnel(client: WreqHttp, scheme: ProxyScheme, secure: bool, method: str):
    origin = Origin()
    with running_proxy(scheme, Manners()) as proxy:

        async def send(client: WreqHttp, url: str) -> object:
            return await getattr(client, method)(Request(url, proxy=proxy.proxy))

        async with serving(origin.script, secure=secure) as server:
            url = server.url("/", "site.test", "https" if secure else "http")
            for _ in range(TRIES // 4):
                await _cancel_around_the_response(client, send, server, origin, url)
