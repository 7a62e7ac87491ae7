"""Names are resolved once and cached for a while, and no caller spoils the cache for others."""

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import pytest

from longline.drivers.http.dns import NameResolver, as_address
from longline.ports.http import FetchFailed


class Resolver:
    """A substitute for the system's resolver: counts, waits for the test, and fails for names in .invalid."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.busy = asyncio.Event()
        self.proceed = asyncio.Event()
        self.proceed.set()
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", self.getaddrinfo)

    async def getaddrinfo(self, host: str, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        self.busy.set()
        await self.proceed.wait()
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        sixth = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0))
        fourth = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))
        return [sixth, fourth, fourth]


@pytest.fixture
async def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


BOTH = (ip_address("::1"), ip_address("127.0.0.1"))


async def test_addresses_keep_their_order_without_repeats(resolver: Resolver):
    assert await NameResolver().resolve("site.test") == BOTH


async def test_addresses_are_cached_for_a_while(resolver: Resolver):
    names = NameResolver(seconds=60)
    for _ in range(3):
        await names.resolve("site.test")
    await names.resolve("other.test")
    assert resolver.asked == ["site.test", "other.test"]
    forgetful = NameResolver(seconds=0)
    for _ in range(3):
        await forgetful.resolve("site.test")
    assert resolver.asked[2:] == ["site.test"] * 3


async def test_a_failure_is_cached_too(resolver: Resolver):
    names = NameResolver(failure_seconds=60)
    for _ in range(3):
        with pytest.raises(FetchFailed, match=r"no\.invalid: Name or service not known") as failure:
            await names.resolve("no.invalid")
        assert failure.value.kind == "dns"
    assert resolver.asked == ["no.invalid"]
    forgetful = NameResolver(failure_seconds=0)
    for _ in range(2):
        with pytest.raises(FetchFailed):
            await forgetful.resolve("no.invalid")
    assert resolver.asked[1:] == ["no.invalid"] * 2


async def test_the_number_of_cached_names_is_bounded(resolver: Resolver):
    names = NameResolver(size=2)
    for host in ("a.test", "b.test", "c.test", "c.test", "b.test", "a.test"):
        await names.resolve(host)
    assert resolver.asked == ["a.test", "b.test", "c.test", "a.test"]


async def test_concurrent_callers_share_one_lookup(resolver: Resolver):
    names = NameResolver()
    resolver.proceed.clear()
    waiting = [asyncio.create_task(names.resolve("site.test")) for _ in range(20)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    resolver.proceed.set()
    first, *others = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(first, asyncio.CancelledError)
    assert others == [BOTH] * 19
    assert resolver.asked == ["site.test"]


async def test_a_lookup_that_times_out_is_still_cached(resolver: Resolver):
    names = NameResolver(patience=0.05)
    resolver.proceed.clear()
    with pytest.raises(FetchFailed, match="did not resolve in") as failure:
        await names.resolve("site.test")
    assert failure.value.kind == "dns"
    resolver.proceed.set()
    assert await names.resolve("site.test") == BOTH
    assert resolver.asked == ["site.test"]


async def test_close_cancels_the_lookups(resolver: Resolver):
    names = NameResolver()
    resolver.proceed.clear()
    waiting = asyncio.create_task(names.resolve("site.test"))
    await resolver.busy.wait()
    await names.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_the_systems_resolver_resolves_localhost():
    assert set(await NameResolver().resolve("localhost")) <= {ip_address("127.0.0.1"), ip_address("::1")}


async def test_an_address_is_resolved_to_itself(resolver: Resolver):
    assert await NameResolver().resolve("[::1]") == (ip_address("::1"),)
    assert await NameResolver().resolve("127.0.0.1") == (ip_address("127.0.0.1"),)
    assert resolver.asked == []


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("::1", "::1"),
        ("example.com", None),
        ("host1", None),
        ("1.2.3.4.example", None),
        ("", None),
    ],
)
def test_as_address(host, address):
    assert as_address(host) == (ip_address(address) if address else None)
