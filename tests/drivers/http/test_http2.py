"""The promises of the client over HTTP/2."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from longline.drivers.http import WreqHttp
from longline.model.frontier import reasons
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.http2 import Answering, Stream, serving_http2
from tests.drivers.http.wire import keeps_answering, serving, to_loopback
from tests.servers.proxies import running_proxy


@pytest.fixture(scope="module")
def issuer() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def certificate(issuer: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("site.test").configure_cert(context)
    return context


@pytest.fixture
async def client(issuer: trustme.CA, tmp_path: Path) -> AsyncIterator[WreqHttp]:
    issuer.cert_pem.write_to_path(tmp_path / "issuer.pem")
    client = WreqHttp(to_loopback, roots=tmp_path / "issuer.pem")
    yield client
    await client.close()


def answers(stream: Stream) -> None:
    stream.answer(stream.path.encode(), ("x-two", "1"), ("content-type", "text/html"), ("x-two", "2"))


async def test_requests_and_responses_are_those_of_http_2(client: WreqHttp, certificate: ssl.SSLContext):
    async with serving_http2(answers, certificate) as server:
        headers = (("User-Agent", "Longline/1"), ("X-Own", "1"), ("X-Own", "2"))
        answer = await client.fetch(Request(server.url("/a?b"), headers))
    assert (answer.version, answer.status, answer.body) == ("HTTP/2", 200, b"/a?b")
    assert [value for name, value in answer.headers if name == "x-two"] == ["1", "2"]
    sent = server.requests[0].headers
    assert sorted(header for header in sent if not header[0].startswith(":")) == [
        ("user-agent", "Longline/1"),
        ("x-own", "1"),
        ("x-own", "2"),
    ]


async def test_many_requests_share_one_connection(client: WreqHttp, certificate: ssl.SSLContext):
    async with serving_http2(answers, certificate) as server:
        await client.fetch(Request(server.url("/first")))
        pages = await asyncio.gather(*(client.fetch(Request(server.url(f"/{n}"))) for n in range(30)))
    assert [page.body for page in pages] == [f"/{n}".encode() for n in range(30)]
    assert server.taken == 1


async def test_a_server_without_http_2_is_served_by_http_1(client: WreqHttp, certificate: ssl.SSLContext):
    certificate.set_alpn_protocols(["http/1.1"])
    async with serving(keeps_answering, secure=certificate) as server:
        answer = await client.fetch(Request(server.url("/x", "site.test", "https")))
    assert (answer.version, answer.body) == ("HTTP/1.1", b"/x")


async def test_http_2_works_through_tunnels(client: WreqHttp, certificate: ssl.SSLContext):
    async with serving_http2(answers, certificate) as server:
        with running_proxy("http") as one, running_proxy("socks5") as two:
            for proxy in (one, two):
                answer = await client.fetch(Request(server.url("/x"), proxy=proxy.proxy))
                assert (answer.version, answer.body) == ("HTTP/2", b"/x")
    assert server.taken == 2


def says_nothing(_: Stream) -> None:
    pass


def stops(stream: Stream) -> None:
    stream.answer(b"abc", length=100, ends=False)


def resets_midway(stream: Stream) -> None:
    stops(stream)
    stream.reset()


def hangs_up_midway(stream: Stream) -> None:
    stops(stream)
    stream.hang_up()


WRONG: list[tuple[Answering, str]] = [
    (lambda stream: stream.answer(b"abc", length=100), "protocol"),
    (lambda stream: stream.answer(b"abc", length=2), "protocol"),
    (Stream.babble, "protocol"),
    (lambda stream: stream.answer(b"x" * 2000), "too_large"),
    (stops, "idle_timeout"),
    (says_nothing, "idle_timeout"),
    (Stream.reset, "reset"),
    (Stream.go_away, "reset"),
    (Stream.hang_up, "reset"),
    (resets_midway, "reset"),
    (hangs_up_midway, "reset"),
]


@pytest.mark.parametrize(("answering", "kind"), WRONG)
async def test_server_faults_have_kinds(client: WreqHttp, certificate: ssl.SSLContext, answering: Answering, kind: str):
    # The wait for a silent server is as long as a connection may take on a busy machine; all others are longer.
    idle = 2.0 if kind == "idle_timeout" else 30.0
    async with serving_http2(answering, certificate) as server:
        with pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(server.url(), idle_seconds=idle, max_bytes=1000))
    assert caught.value.kind == kind, str(caught.value)
    assert caught.value.kind in reasons.RETRYABLE | reasons.FINAL
    assert "wreq" not in str(caught.value)


@pytest.mark.parametrize(("answering", "fault"), [(resets_midway, False), (hangs_up_midway, True)])
async def test_a_stream_reset_is_no_fault_of_the_proxy(client, certificate, answering: Answering, fault: bool):
    async with serving_http2(answering, certificate) as server:
        with running_proxy("socks5") as proxy, pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(server.url(), proxy=proxy.proxy))
    assert caught.value.proxy_fault is fault
