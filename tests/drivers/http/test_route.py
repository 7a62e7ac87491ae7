"""The addresses that are dialled on the way to a host, and the intermediaries that can read the request."""

from ipaddress import ip_address

import pytest

from longline.drivers.http.dns import NameResolver
from longline.drivers.http.route import Route, find_route
from longline.model.fetch.egress import Address
from longline.model.proxies.proxy_uri import Proxy, ProxyScheme
from longline.model.urls.url import parse
from longline.ports.http import FetchFailed

TARGET = (ip_address("192.0.2.1"), ip_address("2001:db8::1"))
PROXY = (ip_address("192.0.2.9"),)


class KnownNames(NameResolver):
    """A resolver that resolves the name of the proxy alone."""

    async def resolve(self, hostname: str) -> tuple[Address, ...]:
        if hostname != "proxy.test":
            raise FetchFailed("dns", f"{hostname}: unknown")
        return PROXY


async def way(url: str, scheme: ProxyScheme | None = None, host: str = "proxy.test") -> Route:
    async def resolve(hostname: str) -> tuple[Address, ...]:
        return TARGET

    proxy = Proxy(scheme, host, 1080) if scheme else None
    return await find_route(parse(url), proxy, resolve, KnownNames())


@pytest.mark.parametrize("url", ["http://site.test/", "https://site.test/"])
async def test_without_a_proxy_the_target_is_dialled(url: str):
    direct = await way(url)
    assert direct.dialled == TARGET
    assert direct.pins() == {"site.test": TARGET}
    assert not direct.forwarded


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_http_proxy_forwards_plain_requests_alone(scheme: ProxyScheme):
    plain, secure = await way("http://site.test/", scheme), await way("https://site.test/", scheme)
    assert (plain.forwarded, secure.forwarded) == (True, False)
    for one in (plain, secure):
        assert one.dialled == PROXY
        assert one.pins() == {"proxy.test": PROXY}


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_gets_an_address(scheme: ProxyScheme):
    socks = await way("http://site.test/", scheme)
    assert socks.dialled == PROXY
    assert socks.pins() == {"proxy.test": PROXY, "site.test": TARGET}
    assert not socks.forwarded


@pytest.mark.parametrize("url", ["http://192.0.2.1/", "http://[2001:db8::1]/"])
async def test_an_address_is_not_pinned(url: str):
    assert (await way(url)).pins() == {}


async def test_a_target_with_the_name_of_its_proxy_is_pinned():
    socks = await way("http://proxy.test/", "socks5")
    assert socks.pins() == {"proxy.test": TARGET}  # the checked address
    http = await way("http://proxy.test/", "http")
    assert http.pins() == {"proxy.test": PROXY}  # the target is not dialled from here


async def test_a_proxy_that_does_not_resolve_fails():
    with pytest.raises(FetchFailed, match=r"proxy http://gone\.test:1080: gone\.test: unknown") as caught:
        await way("http://site.test/", "http", "gone.test")
    assert (caught.value.kind, caught.value.proxy_fault) == ("proxy_failed", True)


def test_the_order_of_addresses_does_not_matter():
    one = Route("site.test", TARGET, None, PROXY)
    assert one.has_same_addresses(Route("site.test", tuple(reversed(TARGET)), None, PROXY))
    assert not one.has_same_addresses(Route("site.test", TARGET[:1], None, PROXY))
    assert not one.has_same_addresses(Route("site.test", TARGET, None, TARGET))
