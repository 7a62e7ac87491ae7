"""One request and one response: the bytes sent, the bytes received, and the connections closed."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import uvloop

from longline.drivers.http import WreqHttp
from longline.model.fetch.content_encoding import ACCEPT_ENCODING, decode_body
from longline.model.fetch.egress import Address
from longline.ports.http import FetchFailed, Http, Request
from tests.drivers.http.wire import CERTIFICATE, Peer, keeps_answering, says, serving, to_loopback
from tests.web import running_site


@pytest.fixture
async def client() -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback)
    yield client
    await client.close()


async def test_a_response_is_returned_unchanged(client: Http):
    head = b"HTTP/1.1 203 Odd\r\nX-Two: 1\r\nContent-Type: text/html\r\nX-Two: 2\r\nX-Latin: caf\xe9\r\n"
    async with serving(says(head + b"Content-Length: 4\r\n\r\nbody")) as server:
        answer = await client.fetch(Request(server.url("/a?b#c")))
    assert (answer.url, answer.status, answer.body) == (server.url("/a?b#c"), 203, b"body")
    assert answer.version == "HTTP/1.1"
    assert answer.elapsed_ms >= 0
    assert [value for name, value in answer.headers if name.lower() == "x-two"] == ["1", "2"]
    assert answer.header("X-Latin") == "caf\xe9"
    assert answer.header("content-type") == "text/html"


async def test_a_request_is_sent_with_its_url_and_headers_alone(client: Http):
    async with serving(keeps_answering) as server:
        headers = (("User-Agent", "Longline/1"), ("Accept", "text/html"), ("X-Two", "1"), ("X-Two", "2"))
        await client.fetch(Request(server.url("/a%20b?c=%7E#d", "site.test"), headers))
        first, *lines = server.heads[0].decode().removesuffix("\r\n\r\n").split("\r\n")
    assert first == "GET /a%20b?c=%7E HTTP/1.1"
    sent = sorted(tuple(line.lower().split(": ", 1)) for line in lines)
    assert sent == [
        ("accept", "text/html"),
        ("host", f"site.test:{server.port}"),
        ("user-agent", "longline/1"),
        ("x-two", "1"),
        ("x-two", "2"),
    ]


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("caf\xc3\xa9", b"caf\xc3\xa9"),  # bytes of a server, decoded as Latin-1
        ("\xe4\xb8\xad=1", b"\xe4\xb8\xad=1"),
        ("caf\xe9", b"caf\xc3\xa9"),  # text of a person
        ("\u4e2d", b"\xe4\xb8\xad"),
    ],
)
async def test_a_header_is_sent_back_with_the_bytes_received(client: Http, value: str, sent: bytes):
    async with serving(keeps_answering) as server:
        await client.fetch(Request(server.url(), (("Cookie", value), ("If-None-Match", value))))
    lines = server.heads[0].split(b"\r\n")
    assert {b"cookie: " + sent, b"if-none-match: " + sent} <= set(lines)


@pytest.mark.parametrize("header", [("User-Agent", "x\r\nX-Smuggled: 1"), ("bad name", "x"), ("", "x")])
async def test_an_invalid_header_is_refused(client: Http, header: tuple[str, str]):
    async with serving(keeps_answering) as server:
        with pytest.raises(ValueError, match="not headers"):
            await client.fetch(Request(server.url(), (("Accept", "*/*"), header)))
    assert server.heads == []


async def test_pages_of_the_test_site_are_fetched(client: Http):
    with running_site(pages=3) as site:
        page = await client.fetch(Request(site.url))
        moved = await client.fetch(Request(f"{site.url}redirect/1"))
        packed = await client.fetch(Request(f"{site.url}gzip", (("Accept-Encoding", ACCEPT_ENCODING),)))
        missing = await client.fetch(Request(f"{site.url}status/404"))
        failing = await client.fetch(Request(f"{site.url}status/503"))
    assert b"<title>Page 0</title>" in page.body
    assert (moved.status, moved.header("location"), moved.body) == (302, "/", b"")
    assert packed.body.startswith(b"\x1f\x8b")
    assert decode_body(packed.headers, packed.body, 1_000_000).startswith(b"<title>Compressed</title>")
    assert (missing.status, failing.status) == (404, 503)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n",
            b"abcde",
        ),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99999\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 6\r\n\r\ntwice!", b"twice!"),
        (b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 300 + b"Content-Length: 2\r\n\r\nok", b"ok"),
    ],
)
async def test_every_framing_of_a_body_is_read(client: Http, answer: bytes, body: bytes):
    async with serving(says(answer)) as server:
        assert (await client.fetch(Request(server.url(), max_bytes=1000))).body == body


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_may_be_as_large_as_its_bound(client: Http, announced: bool):
    length = b"Content-Length: 1000\r\n" if announced else b""
    async with serving(says(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n" + b"x" * 1000)) as server:
        for cut in (False, True):
            assert len((await client.fetch(Request(server.url(), max_bytes=1000, cut=cut))).body) == 1000


@pytest.mark.parametrize("head", [b"Content-Length: 100000000\r\n\r\n", b"\r\n"])
async def test_a_body_beyond_its_bound_is_not_read_to_the_end(client: Http, head: bytes):
    sent = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\n" + head, *(b"x" * 100_000 for _ in range(1000)))
        sent.set()

    async with serving(script) as server:
        with pytest.raises(FetchFailed) as failure:
            await client.fetch(Request(server.url(), max_bytes=1_000_000))
        await server.until_open(0)
        cut = await client.fetch(Request(server.url(), max_bytes=1_000_000, cut=True))
        await server.until_open(0)
    assert failure.value.kind == "too_large"
    assert cut.body == b"x" * 1_000_000
    assert not sent.is_set()


async def test_connections_are_reused(client: Http):
    async with serving(keeps_answering) as server:
        for number in range(5):
            assert (await client.fetch(Request(server.url(f"/{number}")))).body == f"/{number}".encode()
    assert server.taken == 1


async def test_a_connection_closed_between_requests_is_no_failure(client: Http):
    async with serving(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) as server:
        for _ in range(5):
            assert (await client.fetch(Request(server.url()))).body == b"ok"
            await server.until_open(0)
    assert server.taken == 5


async def test_names_are_resolved_by_the_given_resolver_and_pinned():
    asked: list[str] = []

    async def resolve(hostname: str) -> tuple[Address, ...]:
        asked.append(hostname)
        if hostname == "inside.test":
            raise FetchFailed("refused", "not for you")
        return await to_loopback(hostname)

    client = WreqHttp(resolve)
    async with serving(keeps_answering) as server:
        for host in ("site.test", "site.test.", "127.0.0.1"):
            assert (await client.fetch(Request(server.url("/x", host)))).body == b"/x"
        with pytest.raises(FetchFailed, match="not for you"):
            await client.fetch(Request(server.url("/x", "inside.test")))
        await client.close()
    assert asked == ["site.test", "site.test.", "127.0.0.1", "inside.test"]
    assert len(server.heads) == 3


async def test_an_address_in_the_url_is_passed_to_the_resolver():
    """The resolver, which may be a guard, must see the address to be dialled in every notation."""
    seen: list[str] = []

    async def resolve(hostname: str) -> tuple[Address, ...]:
        seen.append(hostname)
        raise FetchFailed("refused", "guarded")

    client = WreqHttp(resolve)
    for host in ("0x7f000001", "2130706433", "127.1", "[::ffff:127.0.0.1]", "LOCALHOST"):
        with pytest.raises(FetchFailed, match="guarded"):
            await client.fetch(Request(f"http://{host}/"))
    await client.close()
    assert seen == ["127.0.0.1", "127.0.0.1", "127.0.0.1", "[::ffff:7f00:1]", "localhost"]


@pytest.mark.parametrize(("kept", "connections"), [(1, 3), (2, 2)])
async def test_clients_are_kept_for_a_limited_number_of_hosts(kept: int, connections: int):
    client = WreqHttp(to_loopback, max_clients=kept)
    async with serving(keeps_answering) as server:
        for host in ("a.test", "b.test", "a.test"):
            await client.fetch(Request(server.url("/", host)))
        await client.close()
    assert server.taken == connections


async def test_an_evicted_client_completes_its_requests():
    client = WreqHttp(to_loopback, max_clients=1)
    arrived, proceed = asyncio.Event(), asyncio.Event()

    async def script(peer: Peer) -> None:
        while await peer.request():
            if peer.path == "/wait":
                arrived.set()
                await proceed.wait()
            await peer.answer(b"done")

    async with serving(script) as server:
        waiting = asyncio.create_task(client.fetch(Request(server.url("/wait", "a.test"))))
        await arrived.wait()
        for host in ("b.test", "c.test"):
            await client.fetch(Request(server.url("/", host)))
        proceed.set()
        assert (await waiting).body == b"done"
        await client.close()


async def test_concurrent_fetches_do_not_block_each_other(client: Http):
    """The server sends the second halves after all first halves: if one fetch blocked, none would end."""
    count, half = 40, b"x" * 300_000
    started = asyncio.Barrier(count)

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (2 * len(half)), half)
        await started.wait()
        await peer.send(half)

    async with serving(script) as server:
        answers = await asyncio.gather(*(client.fetch(Request(server.url())) for _ in range(count)))
    assert [len(answer.body) for answer in answers] == [2 * len(half)] * count


@pytest.mark.parametrize(
    "partly", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"HTTP/1.1 200 OK\r\n\r\nabc"]
)
async def test_a_cancelled_fetch_closes_its_connection(client: Http, partly: bytes):
    arrived = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        if peer.path == "/next":
            return await peer.answer(b"next")
        await peer.send(partly)
        arrived.set()
        return await peer.goodbye()

    async with serving(script) as server:
        tasks = [asyncio.create_task(client.fetch(Request(server.url()))) for _ in range(10)]
        await arrived.wait()
        await server.until_open(10)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        await server.until_open(0)
        assert (await client.fetch(Request(server.url("/next")))).body == b"next"


async def test_close_closes_every_connection():
    client = WreqHttp(to_loopback)
    async with serving(keeps_answering) as server:
        await asyncio.gather(*(client.fetch(Request(server.url("/", f"{n}.test"))) for n in range(5)))
        await server.until_open(5)
        await client.close()
        await server.until_open(0)
        with pytest.raises(FetchFailed, match="closed"):
            await client.fetch(Request(server.url()))
        await client.close()


async def test_close_fails_open_requests_and_cancels_no_task():
    client = WreqHttp(to_loopback)
    arrived = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        arrived.set()
        await peer.goodbye()

    async with serving(script) as server:
        task = asyncio.create_task(client.fetch(Request(server.url())))
        await arrived.wait()
        await client.close()
        with pytest.raises(FetchFailed) as failure:
            await task
        await server.until_open(0)
    assert failure.value.kind == "network"
    assert not task.cancelled()


async def test_https_pages_are_fetched():
    client = WreqHttp(to_loopback, roots=CERTIFICATE)
    async with serving(keeps_answering, secure=True) as server:
        answer = await client.fetch(Request(server.url("/x", "site.test", "https")))
        await client.close()
    assert (answer.status, answer.body) == (200, b"/x")


def test_the_client_works_on_uvloop():
    async def run(url: str) -> tuple[int, bool]:
        client = WreqHttp(to_loopback)
        answer = await client.fetch(Request(url))
        task = asyncio.create_task(client.fetch(Request(f"{url}hang")))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await client.close()
        return answer.status, task.cancelled()

    # The site has a loop of its own: a late connection must not remain in the loop that ends here.
    with running_site(pages=1) as site:
        assert uvloop.run(run(site.url)) == (200, True)
