"""Public addresses are admitted; all other addresses are refused, in every notation and embedding."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.errors import BadInput
from longline.model.fetch.egress import INSIDE, INSIDE6, AddressPolicy

WALL = AddressPolicy()

CLOSED = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "::/128",
    "::1/128",
    "::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/32",
    "2001:2::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]

OPEN_BESIDE = [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "8.8.8.8",
    "2000::",
    "2001:200::",
    "2001:4860:4860::8888",
    "2001:db7:ffff::",
    "2001:db9::",
    "2001:ffff:ffff::",
    "2003::",
    "2606:4700::1111",
    "3ffe:ffff::",
    "3fff:1000::",
    "3fff:ffff::",
]


@pytest.mark.parametrize("network", CLOSED)
def test_every_address_of_a_closed_network_is_refused(network: str):
    closed = ip_network(network)
    middle = closed[closed.num_addresses // 2]
    assert [WALL.admits(address) for address in (closed[0], middle, closed[-1])] == [False] * 3


@pytest.mark.parametrize("address", OPEN_BESIDE)
def test_addresses_beside_a_closed_network_are_admitted(address: str):
    assert WALL.admits(ip_address(address))


@pytest.mark.parametrize(
    ("address", "admitted"),
    [
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("::ffff:10.1.2.3", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::127.0.0.1", False),
        ("64:ff9b::10.0.0.1", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b::1:8.8.8.8", False),  # beside the prefix
        ("64:ff9b:1::8.8.8.8", False),  # a prefix for local use: the addresses behind it are unknown
        ("2002:7f00:1::", False),
        ("2002:808:808::1", False),
        ("2001:0:808:808::f7f7:f7f7", False),
        ("::127.0.0.1", False),
        ("::8.8.8.8", False),
        ("fe80::1%eth0", False),
        ("2606:4700::1%eth0", False),
        ("::1%lo", False),
    ],
)
def test_embedded_addresses_are_judged_by_the_address_inside(address: str, admitted: bool):
    assert WALL.admits(ip_address(address)) is admitted


@pytest.mark.parametrize(
    ("allowed", "opened", "closed"),
    [
        ("127.0.0.0/8", ["127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1"], ["::1", "10.0.0.1"]),
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2"]),
        ("fd00:1::/32", ["fd00:1::7"], ["fd00:2::7", "fc00::1"]),
        ("64:ff9b:1::/48", ["64:ff9b:1::10.0.0.1"], ["10.0.0.1"]),
        ("fe80::/10", ["fe80::1%eth0"], ["2606:4700::1%eth0"]),
    ],
)
def test_allowed_networks_are_open_and_no_others(allowed: str, opened: list[str], closed: list[str]):
    wall = AddressPolicy.opening([allowed])
    assert all(wall.admits(ip_address(address)) for address in opened)
    assert not any(wall.admits(ip_address(address)) for address in closed)
    assert wall.admits(ip_address("8.8.8.8"))


def test_several_networks_are_read_as_written():
    wall = AddressPolicy.opening([" 10.0.0.0/8", "fd00::/8 "])
    assert wall == AddressPolicy((ip_network("10.0.0.0/8"), ip_network("fd00::/8")))
    assert wall.admits(ip_address("10.9.9.9"))
    assert wall.admits(ip_address("fd00::1"))


@pytest.mark.parametrize("text", ["", "localhost", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8,127.0.0.1"])
def test_a_text_that_is_no_network_is_refused(text: str):
    with pytest.raises(BadInput, match="not a network"):
        AddressPolicy.opening([text])


@given(st.ip_addresses(v=4))
def test_the_quick_search_agrees_with_the_plain_one(address: IPv4Address):
    assert WALL.admits(address) is not any(address in ip_network(network) for network in INSIDE)


@given(st.ip_addresses(v=6))
def test_the_quick_search_agrees_with_the_plain_one_for_ipv6(address: IPv6Address):
    if address.ipv4_mapped is None and address not in ip_network("64:ff9b::/96"):
        assert WALL.admits(address) is not any(address in ip_network(network) for network in INSIDE6)


@given(st.ip_addresses(v=4))
def test_no_address_is_admitted_that_python_calls_private(address: IPv4Address):
    assert address.is_global or not WALL.admits(address)


@given(st.ip_addresses(v=4))
def test_an_embedded_ipv4_address_is_judged_like_the_plain_one(address: IPv4Address):
    assert WALL.admits(IPv6Address(f"::ffff:{address}")) is WALL.admits(address)
    assert WALL.admits(IPv6Address(f"64:ff9b::{address}")) is WALL.admits(address)
