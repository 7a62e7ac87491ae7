"""Where a request goes: to which host, at which addresses, and through what."""

from typing import NamedTuple

from longline.drivers.http.dns import NameResolver, Resolve, as_address
from longline.model.fetch.egress import Address
from longline.model.url import Url
from longline.ports.http import FetchFailed, Proxy


class Route(NamedTuple):
    """A host and the addresses that may be dialled for it; with a proxy, those of the proxy too.

    `addresses` is empty where nobody dials by them: an HTTP proxy is told the name.
    """

    hostname: str
    addresses: tuple[Address, ...]
    proxy: Proxy | None = None
    proxy_addresses: tuple[Address, ...] = ()
    secure: bool = False

    @property
    def dialled(self) -> tuple[Address, ...]:
        """Who may be at the other end of our connection."""
        return self.proxy_addresses if self.proxy else self.addresses

    @property
    def forwarded(self) -> bool:
        """Whether a proxy reads the request and writes the answer, instead of only passing bytes on."""
        return self.proxy is not None and not self.secure and not self.proxy.scheme.startswith("socks")

    def pins(self) -> dict[str, tuple[Address, ...]]:
        """What names mean; the client must not look up any by itself."""
        named = {self.proxy.host: self.proxy_addresses} if self.proxy else {}
        # When target and proxy are the same host, what was checked for the target serves for both.
        named |= {self.hostname: self.addresses} if self.addresses else {}
        return {name: addresses for name, addresses in named.items() if as_address(name) is None}

    def same(self, other: "Route") -> bool:
        """Whether a client made for one will do for the other; order does not matter."""
        return _same(self.addresses, other.addresses) and _same(self.proxy_addresses, other.proxy_addresses)


def _same(some: tuple[Address, ...], others: tuple[Address, ...]) -> bool:
    # Hashing addresses is slow; a remembered answer is the same object, so this seldom goes further than `is`.
    return some is others or set(some) == set(others)


async def find_way(url: Url, proxy: Proxy | None, resolve: Resolve, names: NameResolver) -> Route:
    """Look up and check the target before anything is sent anywhere; the proxy's own name is not behind the wall."""
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
