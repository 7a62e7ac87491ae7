"""The proxies of the tests behave as their options demand."""

import asyncio
import http.client
import socket
from base64 import b64encode
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest

from longline.model.proxies.proxy_uri import Proxy
from tests.servers.proxies import Manners, Passage, RunningProxy, running_proxy
from tests.web import SiteHandle, running_site

BASIC = {"Proxy-Authorization": "Basic " + b64encode(b"anna:Secret").decode()}
LOCKED = Manners(username="anna", password="Secret")


@pytest.fixture
def site():
    with running_site(pages=2) as site:
        yield site


def ask(proxy: RunningProxy, url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Send one plain request through an HTTP proxy."""
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)) as connection:
        connection.request("GET", url, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read()


def ask_through_tunnel(proxy: RunningProxy, url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    place = urlsplit(url)
    with closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)) as connection:
        connection.set_tunnel(place.hostname or "", place.port, headers)
        connection.request("GET", place.path)
        response = connection.getresponse()
        return response.status, response.read()


def exchange(port: int, *words: bytes) -> bytes:
    """Send messages one after the other, and return all bytes of the answer."""
    heard = b""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for word in words:
            connection.sendall(word)
            heard += connection.recv(65536)
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                heard += piece
    return heard


def socks_target(site: SiteHandle, host: bytes) -> bytes:
    port = urlsplit(site.url).port or 0
    return b"\5\1\0\3" + bytes([len(host)]) + host + port.to_bytes(2)


GET = b"GET /page/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def test_plain_requests_are_forwarded(site: SiteHandle):
    with running_proxy() as proxy:
        status, body = ask(proxy, site.url, {"Proxy-Connection": "x"})
        named = ask(proxy, site.url.replace("127.0.0.1", "site.test"))
    assert (status, b"<title>Page 0</title>" in body) == (200, True)
    assert named[0] == 200
    assert [target.split(":")[0] for target in proxy.targets] == ["127.0.0.1", "site.test"]
    assert not [name for name in site.requests[0].headers if name.startswith("proxy")]


def test_tunnels(site: SiteHandle):
    with running_proxy() as proxy:
        assert ask_through_tunnel(proxy, site.url)[0] == 200
    assert proxy.passages == [Passage("CONNECT", site.url.removeprefix("http://").rstrip("/"))]


@pytest.mark.parametrize("asking", [ask, ask_through_tunnel])
def test_a_password(site: SiteHandle, asking):
    with running_proxy("http", LOCKED) as proxy:
        assert asking(proxy, site.url, BASIC)[0] == 200
        for wrong in ({}, {"Proxy-Authorization": BASIC["Proxy-Authorization"].swapcase()}):
            with suppress(OSError):  # http.client raises for a tunnel that is not opened
                assert asking(proxy, site.url, wrong)[0] == 407
    assert (proxy.asked, len(proxy.passages)) == (3, 1)
    assert len(site.requests) == 1


def test_a_target_that_is_not_there():
    with running_proxy() as proxy:
        assert ask(proxy, "http://127.0.0.1:1/") == (502, b"")
        assert proxy.passages == []


def test_a_lying_proxy_sends_a_body_that_is_too_short(site: SiteHandle):
    with running_proxy("http", Manners(lies=True)) as proxy, pytest.raises(http.client.IncompleteRead) as caught:
        ask(proxy, site.url)
    assert caught.value.expected == 10


def test_a_refusing_proxy_sends_no_request_on(site: SiteHandle):
    with running_proxy("http", Manners(says=403)) as proxy:
        assert ask(proxy, site.url)[0] == 403
    assert site.requests == []


def test_a_dying_proxy_breaks_off_and_refuses_connections(site: SiteHandle):
    with running_proxy("http", Manners(dies_at=2)) as proxy:
        assert ask(proxy, site.url)[0] == 200
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            ask(proxy, site.url)
        with pytest.raises(ConnectionError):
            ask(proxy, site.url)
    assert (proxy.asked, len(proxy.passages)) == (2, 2)


def test_socks(site: SiteHandle):
    with running_proxy("socks5") as proxy:
        heard = exchange(proxy.port, b"\5\1\0", socks_target(site, b"site.test"), GET)
    assert heard.startswith(b"\5\0" + b"\5\0\0\1" + b"\0" * 6 + b"HTTP/1.1 200")
    assert b"<title>Page 1</title>" in heard
    assert [passage.verb for passage in proxy.passages] == ["SOCKS"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([b"\5\1\0"], b"\5\xff"),
        ([b"\5\2\0\2", b"\1\4anna\6secret"], b"\5\2\1\1"),
        ([b"\5\2\0\2", b"\1\4anna\6Secret", b"\5\1\0\1\x7f\0\0\1\0\1"], b"\5\2\1\0\5\5\0\1\0\0\0\0\0\0"),
    ],
)
def test_socks_with_a_password(words: list[bytes], answer: bytes):
    with running_proxy("socks5", LOCKED) as proxy:
        assert exchange(proxy.port, *words) == answer
        assert proxy.passages == []


def test_socks_that_dies_midway(site: SiteHandle):
    with running_proxy("socks5", Manners(dies_at=1)) as proxy:
        heard = exchange(proxy.port, b"\5\1\0", socks_target(site, b"site.test"), GET)
        with pytest.raises(ConnectionError):
            exchange(proxy.port, b"\5\1\0")
    assert len(heard.partition(b"HTTP/1.1")[2]) == 60 - len("HTTP/1.1")


def test_socks_resolves_in_its_own_way(site: SiteHandle):
    with running_proxy("socks5", Manners(names={"site.test": "127.0.0.2"})) as proxy:
        heard = exchange(proxy.port, b"\5\1\0", socks_target(site, b"site.test"))
    assert heard == b"\5\0\5\5\0\1" + b"\0" * 6  # no server listens at 127.0.0.2


async def test_a_hanging_proxy_sends_no_answer():
    with running_proxy("http", Manners(hangs=True)) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"GET http://x.test/ HTTP/1.1\r\n\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        writer.close()


def test_a_proxy_has_the_uri_of_its_fields():
    with running_proxy("socks5", LOCKED) as proxy:
        assert Proxy.parse(proxy.uri) == proxy.proxy
        assert proxy.proxy == Proxy("socks5", "127.0.0.1", proxy.port, "anna", "Secret")
