"""The route of a request: its host, the addresses to dial, and the proxy."""

from typing import NamedTuple

from longline.drivers.http.dns import NameResolver, Resolve, as_address
from longline.model.fetch.egress import Address
from longline.model.proxies.proxy_uri import Proxy
from longline.model.urls.url import Url
from longline.ports.http import FetchFailed


class Route(NamedTuple):
    """A host and the addresses that may be dialled for it; with a proxy, those of the proxy too.

    `addresses` is empty with an HTTP proxy, which gets the name instead of an address.
    """

    hostname: str
    addresses: tuple[Address, ...]
    proxy: Proxy | None = None
    proxy_addresses: tuple[Address, ...] = ()
    secure: bool = False

    @property
    def dialled(self) -> tuple[Address, ...]:
        """Return the addresses that may be at the other end of the connection."""
        return self.proxy_addresses if self.proxy else self.addresses

    @property
    def forwarded(self) -> bool:
        """Return whether a proxy reads the request and writes the response, instead of only passing bytes on."""
        return self.proxy is not None and not self.secure and not self.proxy.scheme.startswith("socks")

    def pins(self) -> dict[str, tuple[Address, ...]]:
        """Return the addresses of each name; the client must not look up any name by itself."""
        named = {self.proxy.host: self.proxy_addresses} if self.proxy else {}
        # When target and proxy are the same host, the checked addresses of the target serve for both.
        named |= {self.hostname: self.addresses} if self.addresses else {}
        return {name: addresses for name, addresses in named.items() if as_address(name) is None}

    def has_same_addresses(self, other: "Route") -> bool:
        """Return whether a client made for one route serves the other; order does not matter."""
        return _are_same(self.addresses, other.addresses) and _are_same(self.proxy_addresses, other.proxy_addresses)


def _are_same(some: tuple[Address, ...], others: tuple[Address, ...]) -> bool:
    # Hashing addresses is slow; a cached answer is the same object, so `is` usually decides.
    return some is others or set(some) == set(others)


async def find_route(url: Url, proxy: Proxy | None, resolve: Resolve, names: NameResolver) -> Route:
    """Resolve and check the target before anything is sent; the proxy's own name is not subject to the egress guard."""
    secure = url.scheme == "https"
    if proxy is None:
        return Route(url.hostname, await resolve(url.hostname), secure=secure)
    checked = await resolve(url.hostname)
    try:
        proxy_addresses = await names.resolve(proxy.host)
    except FetchFailed as failed:
        raise FetchFailed("proxy_failed", f"proxy {proxy.label}: {failed}", proxy_fault=True) from None
    pinned = checked if proxy.scheme.startswith("socks") else ()
    return Route(url.hostname, pinned, proxy, proxy_addresses, secure)
