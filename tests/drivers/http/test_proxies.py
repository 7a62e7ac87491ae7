"""Requests through real proxies: the bytes that arrive, and the blame for a failure."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from longline.drivers.http import WreqHttp
from longline.model.frontier import reasons
from longline.model.proxies.proxy_uri import Proxy, ProxyScheme
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import Peer, Script, keeps_answering, says, serving, to_loopback
from tests.servers.proxies import Manners, RunningProxy, running_proxy

OK = b"HTTP/1.1 200 OK\r\n"
LOCKED = Manners(username="anna", password="p:ä @/s")
SCHEMES: list[ProxyScheme] = ["http", "https", "socks5", "socks5h"]


@pytest.fixture(scope="module")
def issuer() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def certificate(issuer: trustme.CA) -> ssl.SSLContext:
    """The certificate of the site, and of a proxy at loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("site.test", "127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
async def client(issuer: trustme.CA, tmp_path: Path) -> AsyncIterator[WreqHttp]:
    issuer.cert_pem.write_to_path(tmp_path / "issuer.pem")
    client = WreqHttp(to_loopback, roots=tmp_path / "issuer.pem")
    yield client
    await client.close()


def manners(scheme: str, certificate: ssl.SSLContext, locked: bool = False) -> Manners:
    given = LOCKED if locked else Manners()
    tls = certificate if scheme == "https" else None
    return Manners(username=given.username, password=given.password, tls=tls)


async def failing(client: WreqHttp, request: Request) -> tuple[str, bool]:
    """Return the kind of the failure, and True for a fault of the proxy; the message has no password and no library."""
    with pytest.raises(FetchFailed) as caught:
        await client.fetch(request)
    failure = caught.value
    assert failure.kind in reasons.RETRYABLE | reasons.FINAL
    assert len(str(failure)) < 300
    assert "wreq" not in str(failure)
    assert "p:ä" not in str(failure)
    assert request.proxy is not None
    assert request.proxy.label in str(failure) or failure.kind == "total_timeout"
    return failure.kind, failure.proxy_fault


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_proxy_transfers_pages(client: WreqHttp, certificate, scheme: ProxyScheme, secure: bool, locked: bool):
    async with serving(keeps_answering, secure=certificate if secure else False) as server:
        with running_proxy(scheme, manners(scheme, certificate, locked)) as proxy:
            url = server.url("/x?y", "site.test", "https" if secure else "http")
            answer = await client.fetch(Request(url, (("X-Own", "1"),), proxy=proxy.proxy))
    assert (answer.status, answer.body, answer.url) == (200, b"/x?y", url)
    verb = "SOCKS" if scheme.startswith("socks") else "CONNECT" if secure else "GET"
    # SOCKS proxies get the address that was resolved here.
    target = f"{'127.0.0.1' if scheme.startswith('socks') else 'site.test'}:{server.port}"
    assert [(passage.verb, passage.target) for passage in proxy.passages] == [(verb, target)]
    assert b"x-own: 1" in server.heads[0]
    assert b"roxy" not in server.heads[0]


async def test_a_user_name_without_a_password_is_sent(client: WreqHttp):
    async with serving(keeps_answering) as server:
        with running_proxy("http", Manners(username="key")) as proxy:
            assert (await client.fetch(Request(server.url("/x"), proxy=proxy.proxy))).body == b"/x"


@pytest.mark.parametrize("given", [("", ""), ("anna", "wrong"), ("bert", LOCKED.password)])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_wrong_password_is_proxy_auth(client: WreqHttp, certificate, scheme: ProxyScheme, secure: bool, given):
    async with serving(keeps_answering, secure=certificate if secure else False) as server:
        with running_proxy(scheme, manners(scheme, certificate, locked=True)) as proxy:
            url = server.url("/x", "site.test", "https" if secure else "http")
            request = Request(url, proxy=Proxy(scheme, "127.0.0.1", proxy.port, *given))
            assert await failing(client, request) == ("proxy_auth", True)
    assert (len(proxy.passages), server.taken) == (0, 0)


@pytest.mark.parametrize("secure", [False, True])
async def test_a_missing_password_at_tinyproxy_is_proxy_auth(client: WreqHttp, secure: bool):
    with running_proxy("http", Manners(username="anna", unknown=401)) as proxy:
        url = f"{'https' if secure else 'http'}://site.test/"
        assert await failing(client, Request(url, proxy=Proxy("http", "127.0.0.1", proxy.port))) == ("proxy_auth", True)


@pytest.mark.parametrize("headers", [b"", b"Server: tinyproxy/1.11.1\r\nVia: 1.1 proxy (tinyproxy)\r\n"])
async def test_a_401_from_the_target_is_a_page(client: WreqHttp, headers: bytes):
    """A response that a proxy only forwards is the target's."""
    async with serving(says(b"HTTP/1.1 401 Unauthorized\r\n" + headers + b"Content-Length: 0\r\n\r\n")) as server:
        answer = await client.fetch(Request("http://site.test/", proxy=Proxy("http", "127.0.0.1", server.port)))
        assert answer.status == 401
        direct = await client.fetch(Request(server.url("/", "site.test")))
        assert direct.status == 401


async def test_a_407_without_a_forwarding_proxy_is_a_page(client: WreqHttp):
    async with serving(says(b"HTTP/1.1 407 Odd\r\nContent-Length: 0\r\n\r\n")) as server:
        assert (await client.fetch(Request(server.url("/", "site.test")))).status == 407
        with running_proxy("socks5") as proxy:
            assert (await client.fetch(Request(server.url("/", "site.test"), proxy=proxy.proxy))).status == 407


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "proxy_auth"), (403, "proxy_refused"), (407, "proxy_auth"), (500, "proxy_failed"), (502, "proxy_failed")],
)
async def test_a_refused_tunnel_is_a_fault_of_the_proxy(client: WreqHttp, status: int, kind: str):
    with running_proxy("http", Manners(says=status)) as proxy:
        assert await failing(client, Request("https://site.test/", proxy=proxy.proxy)) == (kind, True)


async def test_a_tunnel_to_a_closed_port_is_a_fault_of_the_proxy(client: WreqHttp):
    with running_proxy("http") as proxy:
        assert await failing(client, Request("https://site.test:1/", proxy=proxy.proxy)) == ("proxy_failed", True)


@pytest.mark.parametrize("status", [403, 429, 500, 502, 504])
async def test_the_error_page_of_a_forwarding_proxy_is_returned_as_the_page(client: WreqHttp, status: int):
    with running_proxy("http", Manners(says=status)) as proxy:
        assert (await client.fetch(Request("http://site.test/", proxy=proxy.proxy))).status == status


@pytest.mark.parametrize(
    ("reply", "kind", "fault"),
    [
        (1, "proxy_failed", True),
        (2, "proxy_refused", True),
        (3, "proxy_failed", True),
        (4, "network", False),
        (5, "refused", False),
        (6, "connect_timeout", False),
        (7, "proxy_failed", True),
        (8, "proxy_failed", True),
    ],
)
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_socks_replies_have_kinds(client: WreqHttp, scheme: ProxyScheme, reply: int, kind: str, fault: bool):
    with running_proxy(scheme, Manners(says=reply)) as proxy:
        assert await failing(client, Request("http://site.test/", proxy=proxy.proxy)) == (kind, fault)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_target_that_refuses_connections_is_no_fault_of_the_proxy(client: WreqHttp, scheme: ProxyScheme):
    with running_proxy(scheme) as proxy:
        assert await failing(client, Request("http://site.test:1/", proxy=proxy.proxy)) == ("refused", False)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_proxy_that_refuses_connections_is_named(client: WreqHttp, scheme: ProxyScheme, secure: bool):
    url = f"{'https' if secure else 'http'}://site.test/"
    failed = await failing(client, Request(url, proxy=Proxy(scheme, "127.0.0.1", 1)))
    assert failed == ("proxy_refused", True)


async def test_a_proxy_with_an_unknown_name_fails(client: WreqHttp):
    proxy = Proxy("http", "no-such-proxy.invalid", 8080)
    assert await failing(client, Request("http://site.test/", proxy=proxy)) == ("proxy_failed", True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_proxy_with_an_untrusted_certificate_fails(client: WreqHttp, certificate, host: str):
    """The certificate is valid for the address, not for the name."""
    with running_proxy("https", Manners(tls=certificate)) as proxy:
        for url in ("http://site.test:1/", "https://site.test:1/"):
            request = Request(url, proxy=Proxy("https", host, proxy.port))
            if host == "localhost":
                assert await failing(client, request) == ("proxy_failed", True)
        stranger = WreqHttp(to_loopback)
        assert await failing(stranger, Request("http://site.test/", proxy=proxy.proxy)) == ("proxy_failed", True)
        await stranger.close()
    assert proxy.asked == 0


async def speaks_another_language(peer: Peer) -> None:
    await peer.reader.read(1)
    await peer.send(b"SSH-2.0\r\n\r\n")


@pytest.mark.parametrize("script", [speaks_another_language, says(b""), says(b"HTTP/1.1 2")])
@pytest.mark.parametrize("secure", [False, True])
async def test_a_server_that_is_no_http_proxy_fails(client: WreqHttp, secure: bool, script: Script):
    async with serving(script) as server:
        url = f"{'https' if secure else 'http'}://site.test/"
        request = Request(url, proxy=Proxy("http", "127.0.0.1", server.port))
        assert await failing(client, request) == ("proxy_failed", True)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", ["https", "socks5", "socks5h"])
async def test_a_server_that_is_no_https_or_socks_proxy_fails(client: WreqHttp, scheme: ProxyScheme, secure: bool):
    async with serving(speaks_another_language) as server:
        url = f"{'https' if secure else 'http'}://site.test/"
        request = Request(url, proxy=Proxy(scheme, "127.0.0.1", server.port))
        assert await failing(client, request) == ("proxy_failed", True)


@pytest.mark.parametrize(("scheme", "secure"), [("http", True), ("https", False), ("socks5", False), ("socks5h", True)])
async def test_a_proxy_that_hangs_fails(client: WreqHttp, scheme: ProxyScheme, secure: bool):
    """A proxy that never completes the connection is at fault."""
    with running_proxy("http", Manners(hangs=True)) as proxy:
        url = f"{'https' if secure else 'http'}://site.test/"
        request = Request(url, connect_seconds=0.2, proxy=Proxy(scheme, "127.0.0.1", proxy.port))
        assert await failing(client, request) == ("proxy_failed", True)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_long_silence_is_no_fault_of_the_proxy(client: WreqHttp, scheme: ProxyScheme):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.goodbye()

    async with serving(script) as server:
        with running_proxy(scheme) as proxy:
            request = Request(server.url("/", "site.test"), idle_seconds=1.0, proxy=proxy.proxy)
            assert await failing(client, request) == ("idle_timeout", False)
            request = Request(server.url("/", "site.test"), total_seconds=1.0, proxy=proxy.proxy)
            assert await failing(client, request) == ("total_timeout", False)


async def test_a_proxy_with_a_wrong_content_length_fails(client: WreqHttp):
    async with serving(keeps_answering) as server:
        with running_proxy("http", Manners(lies=True)) as proxy:
            request = Request(server.url("/x", "site.test"), proxy=proxy.proxy)
            assert await failing(client, request) == ("proxy_failed", True)
            assert (await client.fetch(Request(server.url("/x", "site.test")))).body == b"/x"


@pytest.mark.parametrize(
    ("scheme", "secure", "last_words"),
    [
        ("http", False, 0),
        ("http", True, 10),  # in the handshake
        ("http", True, 5000),  # in the body
        ("socks5", False, 10),  # in the head
        ("socks5", False, 5000),
        ("socks5h", True, 5000),
    ],
)
async def test_a_proxy_that_dies_midway_fails(client: WreqHttp, certificate, scheme, secure: bool, last_words: int):
    async def script(peer: Peer) -> None:
        while await peer.request():
            await peer.answer(b"x" * 100_000)

    async with serving(script, secure=certificate if secure else False) as server:
        url = server.url("/", "site.test", "https" if secure else "http")
        with running_proxy(scheme, Manners(dies_at=1, last_words=last_words)) as proxy:
            assert await failing(client, Request(url, proxy=proxy.proxy)) == ("proxy_failed", True)
            # The proxy has stopped; the connection that it left open is not used.
            assert await failing(client, Request(url, proxy=proxy.proxy)) == ("proxy_refused", True)
        with running_proxy(scheme) as other:
            assert len((await client.fetch(Request(url, proxy=other.proxy))).body) == 100_000


@pytest.mark.parametrize(("scheme", "kind", "fault"), [("http", "proxy_failed", True), ("socks5", "protocol", False)])
async def test_an_invalid_response_is_its_writers_fault(client: WreqHttp, scheme: ProxyScheme, kind: str, fault: bool):
    """A forwarding proxy writes the response itself; a proxy that passes bytes on does not."""
    answer = OK + b"Content-Length: many\r\n\r\nx"
    async with serving(says(answer)) as server:
        with running_proxy(scheme) as proxy:
            to = Proxy("http", "127.0.0.1", server.port) if scheme == "http" else proxy.proxy
            assert await failing(client, Request(server.url("/", "site.test"), proxy=to)) == (kind, fault)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_the_targets_bad_certificate_is_no_fault_of_the_proxy(client: WreqHttp, certificate, scheme: ProxyScheme):
    async with serving(keeps_answering, secure=certificate) as server:
        with running_proxy(scheme) as proxy:
            request = Request(server.url("/", "other.test", "https"), proxy=proxy.proxy)
            assert await failing(client, request) == ("tls", False)


async def test_a_body_that_is_too_large_is_no_fault_of_the_proxy(client: WreqHttp):
    async with serving(says(OK + b"Content-Length: 1001\r\n\r\n" + b"x" * 1001)) as server:
        with running_proxy("socks5") as proxy, pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(server.url("/", "site.test"), max_bytes=1000, proxy=proxy.proxy))
    assert (caught.value.kind, caught.value.proxy_fault) == ("too_large", False)


async def test_rotation_over_faulty_proxies_fetches_every_page_and_counts_the_faults(client: WreqHttp):
    """Of five proxies two die, one lies and one is locked; a rotation at every fault fetches every page."""
    faults: Counter[str] = Counter()
    async with serving(keeps_answering) as server:
        with (
            running_proxy("http", Manners(dies_at=3)) as a,
            running_proxy("socks5", Manners(dies_at=1, last_words=100)) as b,  # in the third of its answers
            running_proxy("http", Manners(lies=True)) as c,
            running_proxy("socks5", LOCKED) as d,
            running_proxy("http") as e,
        ):
            ways = [*(p.proxy for p in (a, b, c)), Proxy("socks5", "127.0.0.1", d.port), e.proxy]
            pages = [await _rotating(client, server.url(f"/{n}", "site.test"), ways, n, faults) for n in range(20)]
    assert pages == [f"/{n}".encode() for n in range(20)]
    # a serves 2 pages, dies in its third and is tried once more; b likewise, and is tried in a's place after that.
    assert [faults[proxy.proxy.label] for proxy in (a, b, c, d, e)] == [2, 4, 8, 12, 0]
    assert [len(proxy.passages) for proxy in (a, b, c, d, e)] == [3, 1, 8, 0, 16]


async def _rotating(client: WreqHttp, url: str, ways: list[Proxy], start: int, faults: Counter[str]) -> bytes:
    for turn in range(len(ways)):
        proxy = ways[(start + turn) % len(ways)]
        try:
            return (await client.fetch(Request(url, proxy=proxy))).body
        except FetchFailed as failed:
            if not failed.proxy_fault:
                raise
            faults[proxy.label] += 1
    raise AssertionError("no proxy was left")


async def test_many_requests_run_at_once_through_two_proxies(client: WreqHttp):
    async with serving(keeps_answering) as server:
        with running_proxy("http") as one, running_proxy("socks5") as two:
            proxies: list[RunningProxy] = [one, two]
            requests = [Request(server.url(f"/{n}", "site.test"), proxy=proxies[n % 2].proxy) for n in range(60)]
            answers = await asyncio.gather(*map(client.fetch, requests))
    assert [answer.body for answer in answers] == [f"/{n}".encode() for n in range(60)]
    assert len(one.passages) == 30
