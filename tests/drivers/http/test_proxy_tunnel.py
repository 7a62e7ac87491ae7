"""The status with which a proxy refuses a tunnel, requested again."""

from ipaddress import ip_address

import pytest

from longline.drivers.http.proxy_tunnel import refusal_status
from longline.drivers.http.route import Route
from longline.model.proxies.proxy_uri import Proxy, ProxyScheme
from tests.drivers.http.wire import Peer, Script, says, serving
from tests.servers.proxies import Manners, running_proxy

HERE = (ip_address("127.0.0.1"),)


def way(port: int, scheme: ProxyScheme = "http") -> Route:
    return Route("site.test", (), Proxy(scheme, "127.0.0.1", port, "anna", "secret"), HERE, secure=True)


async def test_the_connect_request_is_that_of_the_client():
    async with serving(says(b"HTTP/1.1 403 No\r\n\r\n")) as server:
        assert await refusal_status(way(server.port), "site.test:443") == 403
    assert server.heads == [
        b"CONNECT site.test:443 HTTP/1.1\r\nHost: site.test:443\r\nProxy-Authorization: Basic YW5uYTpzZWNyZXQ=\r\n\r\n"
    ]


@pytest.mark.parametrize("status", [401, 403, 502, 503])
async def test_the_status_of_a_real_proxy_is_returned(status: int):
    with running_proxy("http", Manners(says=status)) as proxy:
        one = Route("site.test", (), proxy.proxy, HERE, secure=True)
        assert await refusal_status(one, "site.test:443") == status


@pytest.mark.parametrize(
    "script", [says(b""), says(b"SSH-2.0\r\n"), says(b"HTTP/1.1\r\n"), says(b"x" * 100_000), says(b"\r\n\r\n")]
)
async def test_an_invalid_response_has_no_status(script: Script):
    async with serving(script) as server:
        assert await refusal_status(way(server.port), "site.test:443") is None


async def test_a_silent_proxy_has_no_status_after_the_timeout(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longline.drivers.http.proxy_tunnel.TUNNEL_TIMEOUT_SECONDS", 0.1)
    async with serving(Peer.goodbye) as server:
        assert await refusal_status(way(server.port), "site.test:443") is None
        await server.until_open(0)


async def test_a_closed_port_has_no_status():
    assert await refusal_status(way(1), "site.test:443") is None


@pytest.mark.parametrize("scheme", ["https", "socks5"])
async def test_only_plain_http_proxies_are_requested(scheme: ProxyScheme):
    async with serving(says(b"HTTP/1.1 403 No\r\n\r\n")) as server:
        assert await refusal_status(way(server.port, scheme), "site.test:443") is None
    assert server.taken == 0
    assert await refusal_status(Route("site.test", HERE), "site.test:443") is None
