"""Every failure of a fetch, caused by a real server, has its kind."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from longline.drivers.http import WreqHttp
from longline.model.frontier import reasons
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import CERTIFICATE, Peer, Script, keeps_answering, says, serving, to_loopback
from tests.web import running_site
from tests.web.unreachable import closed_port, full_port


@pytest.fixture
async def client() -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback)
    yield client
    await client.close()


async def failing(client: WreqHttp, request: Request) -> FetchFailed:
    """Return the failure of a fetch; every failure is in the taxonomy and has one short line."""
    with pytest.raises(FetchFailed) as caught:
        await client.fetch(request)
    failure = caught.value
    assert failure.kind in reasons.RETRYABLE | reasons.FINAL
    assert str(failure)
    assert "\n" not in str(failure)
    assert "wreq" not in str(failure)
    assert len(str(failure)) < 300
    assert failure.__suppress_context__ or failure.__context__ is None
    return failure


OK = b"HTTP/1.1 200 OK\r\n"


async def resets(peer: Peer) -> None:
    await peer.request()
    peer.writer.transport.abort()


async def resets_in_the_body(peer: Peer) -> None:
    await peer.request()
    await peer.send(OK + b"Content-Length: 100\r\n\r\nabc")
    await asyncio.sleep(0.05)  # an immediate abort may overtake the bytes sent
    peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.writer.transport.abort()


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (says(OK + b"Content-Length: 100\r\n\r\nabc"), "truncated"),
        (says(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"), "truncated"),
        (says(OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), "truncated"),
        (says(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"), "protocol"),
        (says(b""), "reset"),
        (says(OK + b"Content-Le"), "reset"),
        (resets, "reset"),
        (resets_in_the_body, "reset"),
        (says(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "protocol"),
        (says(b"<html>no head at all</html>\r\n\r\n"), "protocol"),
        (says(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"), "protocol"),
        (says(OK + b"Content-Length: many\r\n\r\nabcdef"), "protocol"),
        (says(OK + b"X-Long: " + b"x" * 5_000_000 + b"\r\n\r\n"), "protocol"),
    ],
)
async def test_each_fault_of_a_server_has_its_kind(client: WreqHttp, script: Script, kind: str):
    async with serving(script) as server:
        assert (await failing(client, Request(server.url()))).kind == kind


async def test_failures_of_the_test_site_have_their_kinds(client: WreqHttp):
    with running_site(pages=1) as site:
        patient, hasty = (Request(site.url, idle_seconds=seconds, max_bytes=5000) for seconds in (LONG, 0.3))
        kinds = {
            path: (await failing(client, replace(asked, url=f"{site.url}{path}"))).kind
            for asked, paths in (
                (patient, ("truncated", "reset", "gibberish", "big?bytes=5001")),
                (hasty, ("stall", "hang", "slow?seconds=3")),
            )
            for path in paths
        }
    assert kinds == {
        "truncated": "truncated",
        "reset": "reset",
        "gibberish": "protocol",
        "stall": "idle_timeout",
        "hang": "idle_timeout",
        "slow?seconds=3": "idle_timeout",
        "big?bytes=5001": "too_large",
    }


@pytest.mark.parametrize("head", [b"Content-Length: 100\r\n\r\n", b"\r\n"])
async def test_a_body_that_stops_is_an_idle_timeout(client: WreqHttp, head: bytes):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + head + b"abc")
        await peer.goodbye()

    async with serving(script) as server:
        assert (await failing(client, Request(server.url(), idle_seconds=0.2))).kind == "idle_timeout"
        await server.until_open(0)


@pytest.mark.parametrize("head", [b"Content-Length: 1000\r\n\r\n", b"\r\n"])
async def test_a_body_that_drips_is_a_total_timeout(client: WreqHttp, head: bytes):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + head)
        while True:
            await peer.send(b"x")
            await asyncio.sleep(0.02)

    async with serving(script) as server:
        request = Request(server.url(), idle_seconds=5, total_seconds=0.4)
        assert (await failing(client, request)).kind == "total_timeout"
        await server.until_open(0)


async def test_a_slow_and_steady_body_is_no_failure(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Length: 22\r\n\r\n")
        for _ in range(22):
            await asyncio.sleep(0.1)
            await peer.send(b"x")

    async with serving(script) as server:
        answer = await client.fetch(Request(server.url(), idle_seconds=2, connect_seconds=2))
    assert answer.body == b"x" * 22


@pytest.mark.skipif(sys.platform != "linux", reason="other systems treat a full queue in their own way")
async def test_a_connection_that_is_not_made_in_time_is_a_connect_timeout(client: WreqHttp):
    with full_port() as port:
        url = f"http://site.test:{port}/"
        assert (await failing(client, Request(url, connect_seconds=0.3))).kind == "connect_timeout"
        assert (await failing(client, Request(url, idle_seconds=APART))).kind == "connect_timeout"


async def stalls_before_the_head(peer: Peer) -> None:
    await peer.request()
    await peer.goodbye()


async def stalls_in_the_head(peer: Peer) -> None:
    await peer.request()
    await peer.send(OK + b"Content-Le")
    await peer.goodbye()


async def stalls_in_the_body(peer: Peer) -> None:
    await peer.request()
    await peer.send(OK + b"Content-Length: 100\r\n\r\nabc")
    await peer.goodbye()


SHORT, LONG = 0.2, 30.0
APART = 3.0
"""An idle timeout that expires clearly after the connect timeout, on a busy machine too."""


@pytest.mark.parametrize(
    ("script", "secure", "short", "kind"),
    [
        (Peer.goodbye, True, "connect_seconds", "connect_timeout"),
        (Peer.goodbye, True, "idle_seconds", "connect_timeout"),  # no bytes arrive without a connection
        (Peer.goodbye, True, "total_seconds", "total_timeout"),
        (stalls_before_the_head, False, "idle_seconds", "idle_timeout"),
        (stalls_before_the_head, False, "total_seconds", "total_timeout"),
        (stalls_in_the_head, False, "idle_seconds", "idle_timeout"),
        (stalls_in_the_head, False, "total_seconds", "total_timeout"),
        (stalls_in_the_body, False, "idle_seconds", "idle_timeout"),
        (stalls_in_the_body, False, "total_seconds", "total_timeout"),
    ],
)
async def test_the_timeout_that_expires_gives_its_name(client: WreqHttp, script: Script, secure, short: str, kind: str):
    async with serving(script) as server:
        far = Request(server.url("/", "site.test", "https" if secure else "http"), (), LONG, LONG, LONG + 1)
        seconds = APART if (short, kind) == ("idle_seconds", "connect_timeout") else SHORT
        assert (await failing(client, replace(far, **{short: seconds}))).kind == kind
        await server.until_open(0)


@pytest.mark.parametrize("script", [stalls_before_the_head, stalls_in_the_body])
async def test_of_two_timeouts_that_expire_together_the_total_is_named(client: WreqHttp, script: Script):
    async with serving(script) as server:
        request = Request(server.url(), idle_seconds=SHORT, total_seconds=SHORT)
        failures = await asyncio.gather(*(failing(client, request) for _ in range(10)))
    assert [failure.kind for failure in failures] == ["total_timeout"] * 10


@pytest.mark.parametrize("host", ["127.0.0.1", "site.test"])
async def test_a_refused_connection_is_named(client: WreqHttp, host: str):
    with closed_port() as port:
        failure = await failing(client, Request(f"http://{host}:{port}/"))
    assert failure.kind == "refused"
    assert host in str(failure)


async def test_a_name_that_does_not_resolve_is_a_dns_failure():
    client = WreqHttp()
    for host in ("no-such-host.invalid", "a" * 64 + ".test"):
        assert (await failing(client, Request(f"http://{host}/"))).kind == "dns"
    await client.close()


async def test_a_name_that_resolves_too_slowly_is_a_total_timeout():
    client = WreqHttp(lambda _: asyncio.sleep(30, ()))
    assert (await failing(client, Request("http://site.test/", total_seconds=0.1))).kind == "total_timeout"
    await client.close()


@pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com/", "http://", "http://exa mple/"])
async def test_a_text_that_is_no_url_is_refused(client: WreqHttp, url: str):
    assert (await failing(client, Request(url))).kind == "bad_url"


async def test_a_certificate_of_an_unknown_issuer_is_a_tls_failure(client: WreqHttp):
    async with serving(keeps_answering, secure=True) as server:
        failure = await failing(client, Request(server.url("/", "site.test", "https")))
    assert failure.kind == "tls"
    assert "certificate verify failed" in str(failure)


async def test_a_certificate_of_another_host_is_a_tls_failure():
    client = WreqHttp(to_loopback, roots=CERTIFICATE)
    async with serving(keeps_answering, secure=True) as server:
        assert (await failing(client, Request(server.url("/", "other.test", "https")))).kind == "tls"
    await client.close()


async def test_a_server_without_tls_is_a_tls_failure(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.reader.read(10)
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with serving(script) as server:
        assert (await failing(client, Request(server.url("/", "site.test", "https")))).kind == "tls"


async def test_a_connection_closed_during_the_handshake_is_a_reset(client: WreqHttp):
    async def script(peer: Peer) -> None:
        await peer.reader.read(10)

    async with serving(script) as server:
        assert (await failing(client, Request(server.url("/", "site.test", "https")))).kind == "reset"


async def test_words_in_a_url_do_not_change_the_kind_of_a_failure(client: WreqHttp):
    async with serving(says(b"")) as server:
        failure = await failing(client, Request(server.url("/ConnectionRefused,TimedOut,UnexpectedEof,Parse(")))
    assert failure.kind == "reset"
