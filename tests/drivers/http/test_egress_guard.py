"""The egress guard: every notation of an inside address is refused, and the dialled address is the checked one."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest

from longline.drivers.http import GuardedResolver, NameResolver, WreqHttp
from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.connection_pool import ClientCache, HostClient
from longline.drivers.http.dns import Resolve
from longline.drivers.http.route import Route
from longline.model.fetch.egress import Address, AddressPolicy
from longline.model.frontier import reasons
from longline.model.proxies.proxy_uri import Proxy, ProxyScheme
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import Server, keeps_answering, says, serving
from tests.servers.proxies import Manners, running_proxy

PUBLIC = "127.0.0.1"
"""A substitute for a public address: the only one that the guard of these tests admits."""

INSIDE = "127.0.0.2"

WALL = AddressPolicy.opening([PUBLIC])


def answering(*answers: str) -> Resolve:
    """Return a resolver that gives these answers one after the other, each a list of addresses, and then the last."""
    left = [tuple(ip_address(address) for address in answer.split()) for answer in answers]

    async def resolve(hostname: str) -> tuple[Address, ...]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@asynccontextmanager
async def guarded(
    names: Resolve, wall: AddressPolicy = WALL, trusted: frozenset[str] = frozenset()
) -> AsyncIterator[WreqHttp]:
    client = WreqHttp(GuardedResolver(names, wall, trusted).resolve)
    yield client
    await client.close()


@asynccontextmanager
async def two_servers() -> AsyncIterator[tuple[Server, Server]]:
    """Run two servers at the same port, one outside and one inside."""
    async with (
        serving(keeps_answering, host=PUBLIC) as outside,
        serving(keeps_answering, host=INSIDE, port=outside.port) as inside,
    ):
        yield outside, inside


async def refused(client: WreqHttp, request: Request) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        await client.fetch(request)
    assert caught.value.kind == "egress"
    assert not caught.value.proxy_fault
    return caught.value


def test_an_egress_failure_is_final():
    assert "egress" in reasons.FINAL


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "0",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.0.1",
        "2130706433",
        "0177.0.0.1",
        "017700000001",
        "0x7f.0.0.1",
        "0x7f000001",
        "0x7F.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "①②⑦.⓪.⓪.①",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "localhost",
        "LOCALHOST",
        "user:password@127.0.0.1",
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_every_notation_of_an_inside_address_is_refused(host: str, scheme: str):
    """A server listens at loopback: only the guard refuses the request."""
    names = NameResolver()
    async with guarded(names.resolve, AddressPolicy()) as client, serving(keeps_answering) as server:
        await refused(client, Request(server.url("/", host, scheme)))
        await names.close()
    assert server.taken == 0


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1", "127.0.0.2"])
async def test_names_of_inside_addresses_are_refused(address: str):
    async with guarded(answering(address)) as client:
        failure = await refused(client, Request("http://site.test/"))
    assert address not in str(failure)


async def test_an_inside_address_among_others_is_dropped():
    async with two_servers() as (outside, inside), guarded(answering(f"{INSIDE} {PUBLIC}")) as client:
        assert (await client.fetch(Request(outside.url("/x", "site.test")))).body == b"/x"
    assert (outside.taken, inside.taken) == (1, 0)


async def test_a_public_address_is_admitted():
    async with two_servers() as (outside, inside), guarded(answering(PUBLIC)) as client:
        assert (await client.fetch(Request(outside.url("/x", "site.test")))).body == b"/x"
        assert (await client.fetch(Request(outside.url("/y")))).body == b"/y"
    assert (len(outside.heads), inside.taken) == (2, 0)


async def test_a_redirect_to_the_inside_is_refused():
    async def names(hostname: str) -> tuple[Address, ...]:
        return (ip_address(PUBLIC if hostname == "site.test" else INSIDE),)

    for where in ("http://inside.test:{port}/", "http://127.2:{port}/", "//[::ffff:7f00:2]:{port}/"):
        async with serving(keeps_answering, host=INSIDE) as inside:
            location = where.format(port=inside.port).encode()
            redirect = b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % location
            async with serving(says(redirect)) as outside, guarded(names) as client:
                first = await client.fetch(Request(outside.url("/", "site.test")))
                await refused(client, Request(first.leads_to(outside.url("/", "site.test"))))
        assert inside.taken == 0


# The dialled address is the checked one


Make = Callable[[Resolve, AddressPolicy], WreqHttp]


async def strayed(make: Make, names: Resolve, hostname: str = "site.test") -> bool:
    """Return True if a client connects to the inside for a host that is outside when it is checked."""
    async with two_servers() as (outside, inside):
        client = make(names, WALL)
        try:
            for _ in range(2):  # the second time over the connection of the first, if it is open
                await client.fetch(Request(outside.url("/x", hostname)))
        except FetchFailed:
            pass
        await client.close()
        assert outside.taken + inside.taken > 0, "no server was requested"
        return inside.taken > 0


def checks_and_pins(names: Resolve, wall: AddressPolicy) -> WreqHttp:
    return WreqHttp(GuardedResolver(names, wall).resolve)


def checks_but_asks_again(names: Resolve, wall: AddressPolicy) -> WreqHttp:
    """Return a mutant: its guard checks one answer, and the client dials the next one."""
    guard = GuardedResolver(names, wall)

    async def resolve(hostname: str) -> tuple[Address, ...]:
        await guard.resolve(hostname)
        return await names(hostname)

    return WreqHttp(resolve)


def checks_but_does_not_pin(names: Resolve, wall: AddressPolicy) -> WreqHttp:
    """Return a mutant: the checked addresses are dropped, and the library resolves the name itself."""

    class Forgetful(Route):
        def pins(self) -> dict[str, tuple[Address, ...]]:
            return {}

    class Kept(ClientCache):
        def get(self, way: Route, connect_seconds: float) -> HostClient:
            return super().get(Forgetful(*way), connect_seconds)

    client = WreqHttp(GuardedResolver(names, wall).resolve)
    client._clients = Kept(1, load_issuers().store)
    return client


async def test_dns_that_changes_between_check_and_dial_does_not_lead_inside():
    assert not await strayed(checks_and_pins, answering(PUBLIC, INSIDE))


async def test_dns_that_changes_between_requests_does_not_lead_inside():
    """The second answer is refused, even though a connection to the first is still open."""
    async with two_servers() as (outside, inside), guarded(answering(PUBLIC, INSIDE, PUBLIC)) as client:
        await client.fetch(Request(outside.url("/x", "site.test")))
        await refused(client, Request(outside.url("/x", "site.test")))
        assert (await client.fetch(Request(outside.url("/x", "site.test")))).body == b"/x"
    assert (outside.taken, inside.taken) == (1, 0)


async def test_a_mutant_that_dials_another_answer_is_caught():
    assert await strayed(checks_but_asks_again, answering(PUBLIC, INSIDE))


@pytest.mark.parametrize(("make", "right"), [(checks_and_pins, True), (checks_but_does_not_pin, False)])
async def test_a_mutant_that_leaves_the_name_to_the_library_is_caught(make: Make, right: bool):
    """`localhost` is the one name that the library resolves; here it stands for another address than usual."""
    async with two_servers() as (usual, meant):
        client = make(answering(INSIDE), AddressPolicy.opening([INSIDE]))
        answer, failure = b"", ""
        try:
            answer = (await client.fetch(Request(meant.url("/x", "localhost")))).body
        except FetchFailed as failed:
            failure = failed.kind
        await client.close()
    assert (meant.taken == 1, usual.taken == 0) == (right, right)
    # Even with the mutant, a response from an unchecked address is refused.
    assert (answer, failure) == ((b"/x", "") if right else (b"", "egress"))


# Trusted names


async def test_a_trusted_host_may_be_inside():
    async with serving(keeps_answering, host=INSIDE) as inside:
        trusted = frozenset({"intranet.test", "127.0.0.2"})
        async with guarded(answering(INSIDE), AddressPolicy(), trusted) as client:
            for host in ("intranet.test", "INTRANET.test", "127.0.0.2", "127.2"):
                assert (await client.fetch(Request(inside.url("/x", host)))).body == b"/x"
            for host in ("other.test", "a.intranet.test", "127.0.0.3"):
                await refused(client, Request(inside.url("/x", host)))


async def test_a_trusted_public_name_may_not_change_to_an_inside_address():
    typed = frozenset({"site.test"})
    async with two_servers() as (outside, inside), guarded(answering(PUBLIC, INSIDE), trusted=typed) as client:
        await client.fetch(Request(outside.url("/x", "site.test")))
        await refused(client, Request(outside.url("/x", "site.test")))
    assert inside.taken == 0


# Proxies, as far as names are resolved here


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
@pytest.mark.parametrize("host", ["inside.test", "127.0.0.2", "0x7f.2", "[::1]", "localhost"])
@pytest.mark.parametrize("secure", [False, True])
async def test_refused_targets_never_reach_the_proxy(scheme, host: str, secure: bool):
    async def names(hostname: str) -> tuple[Address, ...]:
        return (
            await answering(INSIDE)(hostname) if hostname == "inside.test" else await NameResolver().resolve(hostname)
        )

    with running_proxy(scheme) as proxy:
        async with guarded(names, AddressPolicy()) as client:  # the proxy is at loopback itself: it is exempt
            url = f"{'https' if secure else 'http'}://{host}:1/"
            await refused(client, Request(url, proxy=proxy.proxy))
    assert proxy.asked == 0


@pytest.mark.parametrize("host", ["127.0.0.2", "127.2", "[::ffff:7f00:2]", "localhost", "x.localhost", "localhost."])
async def test_inside_addresses_and_localhost_are_not_left_to_the_proxy(host: str):
    async def names(hostname: str) -> tuple[Address, ...]:
        return (ip_address(INSIDE),)

    with running_proxy("socks5h") as proxy:
        async with guarded(names, AddressPolicy()) as client:
            await refused(client, Request(f"http://{host}:1/", proxy=proxy.proxy))
    assert proxy.asked == 0


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_gets_the_checked_address(scheme: ProxyScheme):
    """The proxy would resolve the name to the inside, but it gets only the address."""
    async with two_servers() as (outside, inside):
        with running_proxy(scheme, Manners(names={"site.test": INSIDE})) as proxy:
            async with guarded(answering(f"{INSIDE} {PUBLIC}", INSIDE)) as client:
                request = Request(outside.url("/x", "site.test"), proxy=proxy.proxy)
                assert (await client.fetch(request)).body == b"/x"
                await refused(client, request)
    assert proxy.targets == [f"{PUBLIC}:{outside.port}"]
    assert inside.taken == 0


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_every_hop_is_checked(scheme: ProxyScheme):
    """A redirect from outside to inside is not followed, even if the proxy can resolve the name."""

    async def names(hostname: str) -> tuple[Address, ...]:
        return (ip_address(INSIDE if hostname == "inside.test" else PUBLIC),)

    async with two_servers() as (outside, inside):
        redirect = f"HTTP/1.1 302 Found\r\nLocation: {inside.url('/', 'inside.test')}\r\nContent-Length: 0\r\n\r\n"
        outside.script = says(redirect.encode())
        with running_proxy(scheme, Manners(names={"inside.test": INSIDE, "site.test": PUBLIC})) as proxy:
            async with guarded(names) as client:
                url = outside.url("/", "site.test")
                first = await client.fetch(Request(url, proxy=proxy.proxy))
                await refused(client, Request(first.leads_to(url), proxy=proxy.proxy))
    assert (proxy.asked, inside.taken) == (1, 0)


async def test_a_redirect_by_a_proxy_to_the_inside_is_refused():
    """A proxy that redirects to the inside receives no second request."""
    redirect = b"HTTP/1.1 302 Found\r\nLocation: http://inside.test/\r\nContent-Length: 0\r\n\r\n"

    async def names(hostname: str) -> tuple[Address, ...]:
        return (ip_address(INSIDE if hostname == "inside.test" else PUBLIC),)

    async with serving(says(redirect)) as liar, guarded(names) as client:
        proxy = Proxy("http", "127.0.0.1", liar.port)
        first = await client.fetch(Request("http://site.test/", proxy=proxy))
        await refused(client, Request(first.leads_to("http://site.test/"), proxy=proxy))
    assert len(liar.heads) == 1


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_an_unresolvable_name_is_not_left_to_a_proxy(scheme: ProxyScheme):
    """The name may exist inside the network of the proxy."""
    with running_proxy(scheme) as proxy:
        async with guarded(NameResolver().resolve) as client:
            with pytest.raises(FetchFailed) as caught:
                await client.fetch(Request("http://no-such-host.invalid/", proxy=proxy.proxy))
    assert (caught.value.kind, caught.value.proxy_fault, proxy.asked) == ("dns", False, 0)


async def test_a_proxy_and_a_target_of_the_same_name_are_checked():
    """The checked address of the name is used for both, and the unchecked one for neither."""
    localhost = socket.gethostbyname("localhost")
    async with serving(keeps_answering, host=localhost) as server:
        with running_proxy("socks5") as proxy:
            client = WreqHttp(GuardedResolver(answering(localhost), AddressPolicy.opening([localhost])).resolve)
            request = Request(server.url("/x", "localhost"), proxy=Proxy("socks5", "localhost", proxy.port))
            assert (await client.fetch(request)).body == b"/x"
            await client.close()
    assert proxy.targets == [f"{localhost}:{server.port}"]
