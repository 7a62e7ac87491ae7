"""The egress policy: the addresses that a URL from outside may lead to.

The table is our own, since Python's `is_global` has changed between versions and lets some of these addresses
through. An address that only wraps an IPv4 address is judged by the IPv4 address.
"""

from bisect import bisect_right
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import msgspec

from longline.model.errors import BadInput

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

INSIDE = (
    "0.0.0.0/8",  # this host, this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by a provider's customers; some clouds keep their metadata here
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # the inside of one large cloud, although it stands in a public range
    "169.254.0.0/16",  # link-local; where most clouds keep their metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast
)

INSIDE6 = (
    # Global unicast is 2000::/3. All else: unspecified, loopback, mapped, local NAT64, discard, segment routing,
    # unique local, link-local, site-local, multicast.
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: given up, and a way to any IPv4 address
    "3fff::/20",  # documentation
)

LOCAL_NAMES = (".localhost", ".local", ".internal")
"""Ends of host names that no public server can have."""

_NAT64 = IPv6Network("64:ff9b::/96")  # how all of IPv4 looks from a network without it


class _Ranges:
    """Many networks as sorted numbers, so that one bisection finds whether an address is in any of them."""

    def __init__(self, networks: Iterable[str]) -> None:
        spans = sorted((int(n[0]), int(n[-1])) for n in map(ip_network, networks))
        self._first = [first for first, _ in spans]
        self._last = [last for _, last in spans]

    def hold(self, address: Address) -> bool:
        number = int(address)
        at = bisect_right(self._first, number) - 1
        return at >= 0 and number <= self._last[at]


_IPV4, _IPV6 = _Ranges(INSIDE), _Ranges(INSIDE6)


class AddressPolicy(msgspec.Struct, frozen=True):
    """A policy that admits public addresses, and the networks that the operator has opened."""

    allow: tuple[Network, ...] = ()

    @classmethod
    def opening(cls, networks: Iterable[str]) -> "AddressPolicy":
        """Return a policy with an operator's networks opened: `10.0.0.0/8`, `192.168.1.7`, `fd00::/8`."""
        try:
            return cls(tuple(ip_network(text.strip()) for text in networks))
        except ValueError as error:
            raise BadInput(f"not a network: {error}") from None

    def admits(self, address: Address) -> bool:
        """Return whether a connection to this address is allowed."""
        if any(address in network for network in self.allow):
            return True
        if isinstance(address, IPv4Address):
            return not _IPV4.hold(address)
        wrapped = _wrapped(address)
        if wrapped is not None:
            return self.admits(wrapped)
        # A zone names one of our own network interfaces: addresses behind it are not public.
        return address.scope_id is None and not _IPV6.hold(address)


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that is mapped (`::ffff:…`) or behind the well-known NAT64 prefix, or None."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped
