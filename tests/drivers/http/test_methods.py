"""Requests of other methods than GET: they are sent once, and a redirect changes their method."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.drivers.http import WreqHttp
from longline.drivers.http.replay import Fixtures, RecordingHttp, ReplayingHttp
from longline.model.errors import BadInput
from longline.model.fetch.request_limits import MAX_REQUEST_BODY_BYTES
from longline.ports.http import FetchFailed, Method, Request
from tests.drivers.http.wire import Peer, keeps_answering, serving, to_loopback
from tests.servers.proxies import running_proxy

FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


@pytest.fixture
async def client() -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback)
    yield client
    await client.close()


async def echoes(peer: Peer) -> None:
    """Answer every request with its method and its body."""
    while await peer.request():
        head = peer.head.lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        await peer.answer(peer.head.split(b" ")[0] + b" " + await peer.reader.readexactly(length))


async def reads_and_hangs_up(peer: Peer) -> None:
    """Answer the first request of the first connection only; hang up on every other request after it has arrived."""
    if await peer.request() and peer.head.startswith(b"GET"):
        await peer.answer(b"ok")
        await peer.request()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_body_is_sent_with_its_method(client: WreqHttp, method: Method):
    async with serving(echoes) as server:
        answer = await client.fetch(Request(server.url("/in"), FORM, method=method, body=b"a=1&b=%20"))
        empty = await client.fetch(Request(server.url("/in"), method=method))
    assert (answer.body, empty.body) == (f"{method} a=1&b=%20".encode(), f"{method} ".encode())
    assert b"content-type: application/x-www-form-urlencoded" in server.heads[0].lower()


async def test_a_post_is_never_sent_twice(client: WreqHttp):
    async with serving(reads_and_hangs_up) as server:
        assert (await client.fetch(Request(server.url()))).body == b"ok"
        with pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(server.url(), FORM, method="POST", body=b"pay=1"))
    assert (caught.value.kind, caught.value.resent_ms) == ("reset", None)
    assert [head.split(b" ")[0] for head in server.heads] == [b"GET", b"POST"]


async def test_a_post_does_not_wait_on_a_kept_connection(client: WreqHttp):
    async with serving(keeps_answering) as server:
        await client.fetch(Request(server.url()))
        await client.fetch(Request(server.url(), method="POST"))
        await client.fetch(Request(server.url()))
    assert server.taken == 2


async def test_a_post_goes_through_a_proxy_and_keeps_its_deadlines(client: WreqHttp):
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.goodbye()

    async with serving(echoes) as server, serving(silent) as mute:
        with running_proxy("socks5") as proxy:
            sent = Request(server.url("/", "site.test"), FORM, proxy=proxy.proxy, method="POST", body=b"x=1")
            assert (await client.fetch(sent)).body == b"POST x=1"
        with pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(mute.url(), method="POST", body=b"x", idle_seconds=0.2))
    assert caught.value.kind == "idle_timeout"


async def test_a_post_to_an_inside_address_is_refused_too():
    async def refuse(_: str) -> tuple[()]:
        raise FetchFailed("egress", "no address that may be reached")

    client = WreqHttp(refuse)
    async with serving(keeps_answering) as server:
        with pytest.raises(FetchFailed, match="no address"):
            await client.fetch(Request(server.url(), method="POST", body=b"x"))
    await client.close()
    assert server.taken == 0


def test_a_request_that_cannot_be_sent_is_refused_when_it_is_made():
    with pytest.raises(BadInput, match="a GET request has no body"):
        Request("https://a.example/", body=b"x")
    with pytest.raises(BadInput, match=f"more than {MAX_REQUEST_BODY_BYTES} bytes"):
        Request("https://a.example/", method="POST", body=b"x" * (MAX_REQUEST_BODY_BYTES + 1))


async def test_answers_to_a_post_are_neither_recorded_nor_replayed(client: WreqHttp, tmp_path: Path):
    fixtures = Fixtures(tmp_path)
    async with serving(echoes) as server:
        answer = await RecordingHttp(client, fixtures).fetch(Request(server.url("/a"), method="POST", body=b"token"))
        assert answer.body == b"POST token"
        assert not await asyncio.to_thread(lambda: list(tmp_path.rglob("*.json")))
        await RecordingHttp(client, fixtures).fetch(Request(server.url("/a")))
        replayed = await ReplayingHttp(fixtures).fetch(Request(server.url("/a"), method="POST", body=b"token"))
    assert replayed.status == 404
