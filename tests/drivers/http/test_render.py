"""A rendering service on loopback: the requests to it, and every result."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from longline.drivers.http.render import RenderingHttp
from longline.drivers.http.replay import SavedStream
from longline.model.fetch.egress import Address
from longline.ports.http import FetchFailed, Request, Response
from tests.drivers.http.wire import Peer, serving, to_loopback

PAGE = "https://site.test/page"


class Plain:
    """A client that records its requests."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    async def open(self, request: Request) -> SavedStream:
        return SavedStream(await self.fetch(request))

    async def fetch(self, request: Request) -> Response:
        self.urls.append(request.url)
        return Response(request.url, 200, (), b"plain", "HTTP/1.1", 1)

    async def close(self) -> None:
        self.urls.append("closed")


class Service:
    """A service that answers with JSON, or with bytes unchanged; `None` is silence."""

    def __init__(self, says: Any, status: int = 200) -> None:
        self.says, self.status = says, status
        self.asked: list[Any] = []

    async def attend(self, peer: Peer) -> None:
        while await peer.request():
            assert peer.head.startswith(b"POST /render HTTP/1.1\r\n")
            length = next(line for line in peer.head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self.asked.append(json.loads(await peer.reader.readexactly(int(length.split(b":")[1]))))
            if self.says is None:
                await peer.goodbye()
                return
            body = self.says if isinstance(self.says, bytes) else json.dumps(self.says).encode()
            await peer.send(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (self.status, len(body)) + body)


@asynccontextmanager
async def rendering(service: Service) -> AsyncIterator[tuple[RenderingHttp, Plain]]:
    plain = Plain()
    async with serving(service.attend) as server:
        client = RenderingHttp(plain, server.url("/"), to_loopback)
        yield client, plain
        await client.close()


async def test_only_requests_with_render_are_rendered():
    service = Service({"html": "<p>ž</p>", "final_url": "https://site.test/landed#part", "status_code": 203})
    async with rendering(service) as (client, plain):
        got = await client.fetch(Request(PAGE, render=True))
        assert (got.url, got.status, got.body) == ("https://site.test/landed", 203, "<p>ž</p>".encode())
        assert got.header("content-type") == "text/html; charset=utf-8"
        assert (await client.fetch(Request(PAGE))).body == b"plain"
    assert service.asked == [{"url": PAGE}]
    assert plain.urls == [PAGE, "closed"]


@pytest.mark.parametrize("says", [{"html": "x"}, {"html": "x", "final_url": "about:blank", "extra": 1}])
async def test_a_page_without_a_final_url_has_the_url_of_its_request(says: Any):
    async with rendering(Service(says)) as (client, _):
        got = await client.fetch(Request(PAGE, render=True))
        assert (got.url, got.status, got.body) == (PAGE, 200, b"x")


@pytest.mark.parametrize(
    ("says", "status", "word"),
    [
        ({"html": "x"}, 500, "render_failed"),
        ({"html": "x"}, 302, "render_failed"),
        (b"<html>", 200, "render_failed"),
        (b'{"html": "\xff"}', 200, "render_failed"),
        ({"final_url": PAGE}, 200, "render_failed"),
        ({"html": "x", "status_code": 0}, 200, "render_failed"),
        ({"html": "x" * 11}, 200, "too_large"),
        ({"html": "x" * 1000}, 200, "too_large"),
        (None, 200, "total_timeout"),
    ],
)
async def test_every_other_response_of_the_service_is_a_failure_with_its_kind(says: Any, status: int, word: str):
    async with rendering(Service(says, status)) as (client, _):
        with pytest.raises(FetchFailed) as failed:
            await client.fetch(Request(PAGE, render=True, max_bytes=10, total_seconds=0.3 if says is None else 60.0))
    assert failed.value.kind == word
    assert "\n" not in str(failed.value)


async def test_an_unreachable_service_is_a_failure():
    client = RenderingHttp(Plain(), "http://127.0.0.1:1", to_loopback)
    with pytest.raises(FetchFailed) as failed:
        await client.fetch(Request(PAGE, render=True))
    assert failed.value.kind == "render_failed"
    await client.close()


async def test_a_page_that_the_egress_guard_refuses_is_not_rendered():
    async def refuse(hostname: str) -> tuple[Address, ...]:
        raise FetchFailed("egress", hostname)

    service = Service({"html": "x"})
    async with serving(service.attend) as server:
        client = RenderingHttp(Plain(), server.url("/"), refuse)
        with pytest.raises(FetchFailed, match=r"site\.test"):
            await client.fetch(Request(PAGE, render=True))
        await client.close()
    assert service.asked == []


async def test_a_service_that_closes_connections_loses_no_page():
    """A POST is not sent twice, so every rendering has a connection of its own."""

    class Closing(Service):
        async def attend(self, peer: Peer) -> None:
            served = len(self.asked)
            while await peer.request():
                if len(self.asked) > served:
                    return
                length = next(line for line in peer.head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                self.asked.append(json.loads(await peer.reader.readexactly(int(length.split(b":")[1]))))
                await peer.answer(json.dumps(self.says).encode())

    service = Closing({"html": "<p>x</p>"})
    async with rendering(service) as (client, _):
        for _ in range(5):
            assert (await client.fetch(Request(PAGE, render=True))).body == b"<p>x</p>"
    assert len(service.asked) == 5
