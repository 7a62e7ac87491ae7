"""A kept connection that the server has closed costs no page: the request is sent once more on a fresh connection."""

import asyncio
import random
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from longline.drivers.http import WreqHttp
from longline.model.proxies.proxy_uri import Proxy, ProxyScheme
from longline.ports.http import FetchFailed, Request, Response
from tests.drivers.http.http2 import Stream, serving_http2
from tests.drivers.http.wire import Peer, Script, serving, to_loopback
from tests.servers.proxies import running_proxy

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LINGER_NOT = b"\1\0\0\0\0\0\0\0"


@pytest.fixture(scope="module")
def issuer() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def certificate(issuer: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("site.test", "127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
async def client(issuer: trustme.CA, tmp_path: Path) -> AsyncIterator[WreqHttp]:
    issuer.cert_pem.write_to_path(tmp_path / "issuer.pem")
    client = WreqHttp(to_loopback, roots=tmp_path / "issuer.pem")
    yield client
    await client.close()


async def one_answer(peer: Peer) -> None:
    """Answer one request without announcing the end, and close the connection at the second."""
    if await peer.request():
        await peer.send(OK)
        await peer.request()


async def one_answer_and_a_reset(peer: Peer) -> None:
    await one_answer(peer)
    peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    peer.writer.transport.abort()


async def one_answer_and_half_a_head(peer: Peer) -> None:
    await one_answer(peer)
    await peer.send(b"HTTP/1.1 200 OK\r\nContent-Le")


async def closes_soon(peer: Peer) -> None:
    """Keep the connection for 3 to 20 ms after an answer."""
    while True:
        try:
            async with asyncio.timeout(random.uniform(0.003, 0.020) if peer.head else None):
                if not await peer.request():
                    return
        except TimeoutError:
            return
        await peer.send(OK)


async def broken(client: WreqHttp, url: str, **options: object) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        await client.fetch(Request(url, **options))  # type: ignore[arg-type]  # fields by their names
    return caught.value


@pytest.mark.parametrize("script", [one_answer, one_answer_and_a_reset, one_answer_and_half_a_head])
@pytest.mark.parametrize("secure", [False, True])
async def test_one_answer_on_each_connection_costs_no_page(client: WreqHttp, certificate, script: Script, secure: bool):
    async with serving(script, secure=certificate if secure else False) as server:
        url = server.url("/", "site.test", "https" if secure else "http")
        answers = [await client.fetch(Request(url)) for _ in range(121)]
    assert [answer.body for answer in answers] == [b"ok"] * 121
    assert sum(answer.resent_ms is not None for answer in answers) == len(server.heads) - 121 > 0


async def test_connections_that_close_soon_after_an_answer_cost_no_page(client: WreqHttp):
    async with serving(closes_soon) as server:
        for _ in range(201):
            assert (await client.fetch(Request(server.url()))).body == b"ok"
            await asyncio.sleep(random.uniform(0.0, 0.022))


async def test_concurrent_requests_lose_no_page(client: WreqHttp):
    async def one_after_another() -> list[Response]:
        return [await client.fetch(Request(server.url())) for _ in range(15)]

    async with serving(one_answer) as server:
        answers = await asyncio.gather(*(one_after_another() for _ in range(8)))
    assert [answer.body for some in answers for answer in some] == [b"ok"] * 120


@pytest.mark.parametrize(
    ("scheme", "secure"),
    [("http", True), ("socks5", False), ("socks5", True), ("socks5h", False), ("socks5h", True)],
)
async def test_a_request_in_a_tunnel_is_sent_again(client: WreqHttp, certificate, scheme: ProxyScheme, secure: bool):
    async with serving(one_answer, secure=certificate if secure else False) as server:
        with running_proxy(scheme) as proxy:
            url = server.url("/", "site.test", "https" if secure else "http")
            answers = [await client.fetch(Request(url, proxy=proxy.proxy)) for _ in range(10)]
    assert [answer.body for answer in answers] == [b"ok"] * 10
    assert any(answer.resent_ms is not None for answer in answers)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_request_through_a_forwarding_proxy_is_sent_again(client: WreqHttp, certificate, scheme: ProxyScheme):
    async with serving(one_answer, secure=certificate if scheme == "https" else False) as server:
        proxy = Proxy(scheme, "127.0.0.1", server.port)
        answers = [await client.fetch(Request("http://site.test/", proxy=proxy)) for _ in range(10)]
    assert [answer.body for answer in answers] == [b"ok"] * 10
    assert any(answer.resent_ms is not None for answer in answers)


@pytest.mark.parametrize("farewell", ["hang_up", "refuse", "go_away", "go_away_and_hang_up"])
async def test_a_request_by_http_2_is_sent_again(client: WreqHttp, certificate: ssl.SSLContext, farewell: str):
    def answering(stream: Stream) -> None:
        if len(server.requests) != 2:
            return stream.answer(stream.path.encode())
        if farewell == "refuse":
            return stream.conversation.connection.reset_stream(stream.number, error_code=7)
        if farewell.startswith("go_away"):
            stream.conversation.connection.close_connection(error_code=0, last_stream_id=1)
        return stream.hang_up() if farewell.endswith("hang_up") else None

    async with serving_http2(answering, certificate) as server:
        answers = [await client.fetch(Request(server.url(f"/{n}"))) for n in range(4)]
    assert [(answer.version, answer.body) for answer in answers] == [("HTTP/2", f"/{n}".encode()) for n in range(4)]


async def test_all_streams_of_a_closed_connection_are_sent_again(client: WreqHttp, certificate: ssl.SSLContext):
    def answering(stream: Stream) -> None:
        if server.taken > 1 or len(server.requests) == 1:
            stream.answer(stream.path.encode())
        elif len(server.requests) == 11:
            stream.hang_up()

    async with serving_http2(answering, certificate) as server:
        await client.fetch(Request(server.url("/first")))
        answers = await asyncio.gather(*(client.fetch(Request(server.url(f"/{n}"))) for n in range(10)))
    assert [answer.body for answer in answers] == [f"/{n}".encode() for n in range(10)]


async def test_a_stream_that_the_server_reset_is_a_failure(client: WreqHttp, certificate: ssl.SSLContext):
    def answering(stream: Stream) -> None:
        return stream.answer(b"ok") if len(server.requests) == 1 else stream.reset()

    async with serving_http2(answering, certificate) as server:
        await client.fetch(Request(server.url()))
        assert (await broken(client, server.url())).kind == "reset"
    assert len(server.requests) == 2


# Requests that are not sent again


async def test_a_fresh_connection_that_breaks_is_a_failure(client: WreqHttp):
    async def hangs_up(peer: Peer) -> None:
        await peer.request()

    async with serving(hangs_up) as server:
        failure = await broken(client, server.url())
    assert (failure.kind, failure.resent_ms, len(server.heads)) == ("reset", None, 1)


async def test_a_request_is_sent_once_more_and_not_twice(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await (one_answer(peer) if server.taken == 1 else peer.request())

    async with serving(script) as server:
        await client.fetch(Request(server.url()))
        failure = await broken(client, server.url())
    assert (failure.kind, failure.resent_ms is not None) == ("reset", True)
    assert (len(server.heads), server.taken) == (3, 2)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (b"", "idle_timeout"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "idle_timeout"),
        (b"SSH-2.0\r\n\r\n", "protocol"),
    ],
)
async def test_other_failures_on_a_kept_connection_are_final(client: WreqHttp, words: bytes, kind: str):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()
        await peer.send(words)
        await peer.goodbye()

    async with serving(script) as server:
        await client.fetch(Request(server.url(), idle_seconds=0.3))
        assert (await broken(client, server.url(), idle_seconds=0.3)).kind == kind
    assert (len(server.heads), server.taken) == (2, 1)


async def test_a_body_that_breaks_off_on_a_kept_connection_is_a_failure(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")

    async with serving(script) as server:
        await client.fetch(Request(server.url()))
        assert (await broken(client, server.url())).kind == "truncated"
    assert (len(server.heads), server.taken) == (2, 1)


# 408: the server has timed out waiting for a request on the connection


async def test_a_408_on_a_kept_connection_is_sent_again(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK)
        await peer.request()
        await peer.send(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate")

    async with serving(script) as server:
        answers = [await client.fetch(Request(server.url())) for _ in range(10)]
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"ok")] * 10


async def test_a_408_on_a_fresh_connection_is_the_response(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate")

    async with serving(script) as server:
        answer = await client.fetch(Request(server.url()))
    assert (answer.status, answer.body, answer.resent_ms) == (408, b"late", None)
    assert len(server.heads) == 1
