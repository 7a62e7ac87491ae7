"""Connections are never mixed up: each host and each route to it has a client of its own."""

from ipaddress import ip_address

import pytest

from longline.drivers.http import WreqHttp
from longline.drivers.http import connection_pool as clients_of
from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.connection_pool import IDLE_CONNECTION_SECONDS, MAX_REMEMBERED_CONNECTIONS, ClientCache
from longline.drivers.http.route import Route
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.http import Request
from tests.drivers.http.wire import keeps_answering, serving, to_loopback
from tests.servers.proxies import Manners, running_proxy

HERE = (ip_address("127.0.0.1"),)
ELSEWHERE = (ip_address("127.0.0.2"),)
BOTH = (*HERE, *ELSEWHERE)
ANNA = Proxy("http", "127.0.0.1", 1, "anna", "secret")


@pytest.fixture(scope="module")
def store():
    return load_issuers().store


def test_equal_routes_share_a_client(store):
    clients = ClientCache(9, store)
    first = clients.get(Route("site.test", BOTH), 1)
    assert clients.get(Route("site.test", tuple(reversed(BOTH))), 1) is first


@pytest.mark.parametrize(
    ("way", "seconds"),
    [
        (Route("other.test", BOTH), 1),
        (Route("site.test", HERE), 1),
        (Route("site.test", BOTH), 2),
        (Route("site.test", BOTH, ANNA, HERE), 1),
    ],
)
def test_other_routes_and_timeouts_have_other_clients(store, way: Route, seconds: float):
    clients = ClientCache(9, store)
    assert clients.get(way, seconds) is not clients.get(Route("site.test", BOTH), 1)


@pytest.mark.parametrize(
    "other",
    [
        Proxy("http", "127.0.0.1", 1, "bert", "secret"),
        Proxy("http", "127.0.0.1", 1, "anna", "Secret"),
        Proxy("http", "127.0.0.1", 2, "anna", "secret"),
        Proxy("socks5", "127.0.0.1", 1, "anna", "secret"),
    ],
)
def test_every_proxy_has_a_client_of_its_own(store, other: Proxy):
    clients = ClientCache(9, store)
    assert clients.get(Route("site.test", (), other, HERE), 1) is not clients.get(Route("site.test", (), ANNA, HERE), 1)


def test_a_proxy_with_another_address_has_another_client(store):
    clients = ClientCache(9, store)
    moved = clients.get(Route("site.test", (), ANNA, ELSEWHERE), 1)
    assert clients.get(Route("site.test", (), ANNA, HERE), 1) is not moved


def test_the_least_recently_used_client_is_evicted_first(store):
    clients = ClientCache(2, store)
    ways = [Route(f"{name}.test", HERE) for name in "abc"]
    a, _ = clients.get(ways[0], 1), clients.get(ways[1], 1)
    assert clients.get(ways[0], 1) is a
    clients.get(ways[2], 1)
    assert clients.get(ways[0], 1) is a


def test_the_answered_connections_of_a_host_are_remembered_for_a_while(store, monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr(clients_of, "monotonic", lambda: now)
    host = ClientCache(9, store).get(Route("site.test", HERE), 1)
    assert not host.has_answered("127.0.0.1:1")
    assert [host.note_answer("127.0.0.1:1"), host.note_answer("127.0.0.1:2"), host.note_answer("127.0.0.1:1")] == [
        False,
        False,
        True,
    ]
    now = IDLE_CONNECTION_SECONDS
    host.note_answer("127.0.0.1:1")
    now += 1
    host.note_answer("127.0.0.1:3")
    assert [host.has_answered(f"127.0.0.1:{n}") for n in (1, 2, 3)] == [True, False, True]


def test_the_number_of_remembered_connections_is_bounded(store):
    host = ClientCache(9, store).get(Route("site.test", HERE), 1)
    for port in range(MAX_REMEMBERED_CONNECTIONS + 5):
        host.note_answer(f"127.0.0.1:{port}")
    known = [port for port in range(MAX_REMEMBERED_CONNECTIONS + 5) if host.has_answered(f"127.0.0.1:{port}")]
    assert known == list(range(5, MAX_REMEMBERED_CONNECTIONS + 5))


@pytest.mark.parametrize("secure", [False, True])
async def test_connections_are_not_shared_between_hosts_or_proxies(secure: bool):
    """Two hosts at one address, with two proxies and none, are six routes: six connections, each reused."""
    client = WreqHttp(to_loopback)
    async with serving(keeps_answering) as server:
        with running_proxy("socks5" if secure else "http") as one, running_proxy("socks5") as two:
            for _ in range(2):
                for proxy in (None, one.proxy, two.proxy):
                    for host in ("a.test", "b.test"):
                        answer = await client.fetch(Request(server.url("/x", host), proxy=proxy))
                        assert answer.body == b"/x"
            await client.close()
    # A forwarding proxy of these tests connects anew for every request; a tunnel is opened once.
    assert [len(proxy.passages) for proxy in (one, two)] == [2 if secure else 4, 2]
    assert one.asked + two.asked == len(one.passages) + len(two.passages)


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_no_proxy_variables_do_not_bypass_a_proxy(monkeypatch: pytest.MonkeyPatch, scheme, name: str):
    monkeypatch.setenv(name, "*,site.test,127.0.0.1,localhost")
    client = WreqHttp(to_loopback)
    async with serving(keeps_answering) as server:
        with running_proxy(scheme) as proxy:
            for host in ("site.test", "127.0.0.1", "localhost"):
                await client.fetch(Request(server.url("/x", host), proxy=proxy.proxy))
    await client.close()
    assert len(proxy.passages) == 3


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_proxy_variables_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, name: str):
    with running_proxy("http", Manners(says=403)) as proxy:
        monkeypatch.setenv(name, proxy.uri)
        client = WreqHttp(to_loopback)
        async with serving(keeps_answering) as server:
            assert (await client.fetch(Request(server.url("/x", "site.test")))).body == b"/x"
        await client.close()
    assert proxy.asked == 0
