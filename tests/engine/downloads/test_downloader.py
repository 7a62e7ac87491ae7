"""The download stage against servers that behave, and servers that do not."""

import asyncio
import hashlib
import os
import time
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from longline.engine.frontier.claims import WorkerSettings
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.downloads.download import NewDownload
from longline.model.fetch.credentials import Credentials
from longline.model.proxies.proxy_uri import Proxy
from longline.model.runs.crawl_plan import CrawlPlan
from longline.services.proxies.proxies import Proxies
from tests.drivers.http.wire import Peer, Server, serving
from tests.engine.downloads.workshop import PLAN, VAULT, Workshop

Answer = Callable[[Peer], Awaitable[None]]


def routes(**answers: Answer) -> Callable[[Peer], Awaitable[None]]:
    """Return a site that answers by the first segment of the path."""

    async def script(peer: Peer) -> None:
        while await peer.request():
            await answers[peer.path.strip("/").partition("/")[0]](peer)

    return script


def file(server: Server, name: str, **more: object) -> NewDownload:
    """Return a file of a server."""
    given = {"resource_id": name, "url": server.url(f"/{name}"), "key": f"resources/{name}"}
    return NewDownload(**given | more)  # type: ignore[arg-type]


def status(code: int, headers: bytes = b"") -> Answer:
    async def answer(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 %d X\r\n%sContent-Length: 0\r\n\r\n" % (code, headers))

    return answer


def planned(plan: CrawlPlan = PLAN, **rules: object) -> CrawlPlan:
    assert plan.downloads is not None
    return msgspec.structs.replace(plan, downloads=msgspec.structs.replace(plan.downloads, **rules))


async def objects(workshop: Workshop) -> dict[str, bytes]:
    return {info.key: await workshop.blobs.get(info.key) async for info in workshop.blobs.list()}


async def test_a_file_is_stored_with_its_digest_and_nothing_else(workshop: Workshop):
    data = os.urandom(700_000)

    async def send(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 700000\r\n\r\n", data)

    async with serving(routes(a=send)) as server:
        rows = await workshop.download([file(server, "a", checksum=f"sha256:{hashlib.sha256(data).hexdigest()}")])
    row = rows["a"]
    assert (row.state, row.reason, row.status, row.attempts, row.bytes) == ("completed", "ok", 200, 1, 700_000)
    assert (row.sha256, row.content_type) == (hashlib.sha256(data).hexdigest(), "image/png")
    assert await objects(workshop) == {"resources/a": data}, "no page and no segment"
    [head] = server.heads
    assert b"accept-encoding: identity\r\n" in head.lower(), "robots.txt is not requested"


async def test_hints_and_buckets_decide_the_bucket_and_the_content_type_of_a_file(workshop: Workshop):
    async with serving(routes(a=lambda peer: peer.answer(b"x"), b=lambda peer: peer.answer(b"y"))) as server:
        files = [file(server, "a", bucket="other", content_type="text/x"), file(server, "b", bucket="Not A Bucket")]
        rows = await workshop.download(files)
    assert rows["a"].content_type == "text/x"
    assert await workshop.blobs.bucket("other").get("resources/a") == b"x"
    assert (rows["b"].state, rows["b"].reason, rows["b"].attempts) == ("failed", "upload", 1)


@pytest.mark.parametrize(
    ("code", "reason", "attempts"),
    [
        (404, "http_4xx", 1),
        (403, "http_4xx", 1),
        (500, "http_5xx", 3),
        (408, "http_408", 3),
        (499, "http_4xx", 3),
        (204, "odd_status", 3),
    ],
)
async def test_statuses_are_retried_or_not_and_end_as_dead_letters(
    workshop: Workshop, code: int, reason: str, attempts: int
):
    async with serving(routes(a=status(code))) as server:
        rows = await workshop.download([file(server, "a")])
    assert (rows["a"].state, rows["a"].reason, rows["a"].status) == ("failed", reason, code)
    assert rows["a"].attempts == attempts
    # On a kept connection 408 means that the connection was idle for too long: the request is sent once more.
    assert len(server.heads) == attempts or code == 408
    [letter] = await workshop.records.dead_letters.find(DeadLetterFilter())
    assert (letter.reason, letter.status, letter.attempts, letter.kind) == (reason, code, attempts, "images")
    assert await objects(workshop) == {}


async def test_urls_that_cannot_be_requested_fail_at_once(workshop: Workshop):
    files = [NewDownload(resource_id=text, url=text, key=f"k{n}") for n, text in enumerate(("ftp://a.example/", "x y"))]
    rows = await workshop.download(files)
    assert {(row.state, row.reason, row.attempts) for row in rows.values()} == {("failed", "bad_url", 1)}
    assert await workshop.records.dead_letters.count(DeadLetterFilter(host="")) == 2


async def test_a_short_body_is_no_file(workshop: Workshop):
    async def short(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
        peer.writer.close()

    async def chunked(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n")
        peer.writer.close()

    async with serving(routes(a=short, b=chunked)) as server:
        rows = await workshop.download([file(server, "a"), file(server, "b")])
    assert {(row.state, row.reason, row.attempts) for row in rows.values()} == {("failed", "truncated", 3)}
    assert await objects(workshop) == {}


async def test_a_deadline_that_passes_while_the_worker_is_stopped_costs_no_attempt(workshop: Workshop):
    asked = 0

    async def answer(peer: Peer) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            time.sleep(2.5)  # noqa: ASYNC251 - the whole process stands still, as after a SIGSTOP
            await peer.goodbye()
        else:
            await peer.answer(b"x")

    settings = WorkerSettings(concurrency=4, lease=1.5, idle_poll=0.05, flush_after=0.05, downloads=4)
    async with serving(routes(a=answer)) as server:
        run_id = await workshop.begin([file(server, "a")])
        run = await workshop.done(run_id, workshop.worker(settings=settings))
    [row] = await workshop.records.downloads.find(run_id)
    assert (run.state, row.attempts, asked) == ("completed", 1, 2)


async def test_a_silent_host_and_a_slow_one_fail_by_their_own_deadlines(workshop: Workshop):
    async def silent(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
        await peer.goodbye()

    async def slow(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while not peer.reader.at_eof():
            await peer.send(b"x")
            await asyncio.sleep(0.05)

    once = msgspec.structs.replace(PLAN, retries=msgspec.structs.replace(PLAN.retries, max_attempts=1))
    async with serving(routes(a=silent, b=slow)) as server:
        plan = planned(once, idle_seconds=0.5, total_seconds=1.5)
        rows = await workshop.download([file(server, "a"), file(server, "b")], plan)
    assert (rows["a"].reason, rows["b"].reason) == ("idle_timeout", "total_timeout")
    assert await objects(workshop) == {}


async def test_an_endless_stream_ends_at_the_limit(workshop: Workshop):
    async def endless(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while not peer.reader.at_eof():
            await peer.send(b"x" * 65536)

    async with serving(routes(a=endless)) as server:
        rows = await workshop.download([file(server, "a")], planned(max_bytes=3_000_000))
    assert (rows["a"].state, rows["a"].reason, rows["a"].attempts) == ("failed", "too_large", 1)
    assert await objects(workshop) == {}


async def test_a_file_with_an_unexpected_digest_is_downloaded_again(workshop: Workshop):
    bodies = iter([b"wrong", b"right"])

    async def answer(peer: Peer) -> None:
        await peer.answer(next(bodies))

    async with serving(routes(a=answer)) as server:
        rows = await workshop.download([file(server, "a", checksum=f"sha256:{hashlib.sha256(b'right').hexdigest()}")])
    assert (rows["a"].state, rows["a"].attempts) == ("completed", 2)
    assert await objects(workshop) == {"resources/a": b"right"}


@pytest.mark.parametrize("etag", [b'"v1"', b'W/"v1"'])
async def test_a_broken_file_is_resumed_if_the_host_serves_ranges(workshop: Workshop, etag: bytes):
    data = os.urandom(3_000_000)

    async def send(peer: Peer) -> None:
        asked = peer.head.lower().partition(b"range: bytes=")[2].partition(b"-")[0]
        start = int(asked) if asked.isdigit() else 0
        head = b"HTTP/1.1 200 OK\r\nETag: %s\r\nContent-Length: %d\r\n\r\n" % (etag, len(data))
        if start:
            place = b"Content-Range: bytes %d-%d/%d" % (start, len(data) - 1, len(data))
            length = b"Content-Length: %d" % (len(data) - start)
            head = b"HTTP/1.1 206 Partial\r\nETag: %s\r\n%s\r\n%s\r\n\r\n" % (etag, place, length)
        await peer.send(head, data[start : start + 1_200_000])
        if start + 1_200_000 < len(data):
            peer.writer.close()

    async with serving(routes(a=send)) as server:
        rows = await workshop.download([file(server, "a")])
    if etag.startswith(b"W/"):
        assert (rows["a"].reason, rows["a"].attempts) == ("truncated", 3)
        return
    assert (rows["a"].state, rows["a"].attempts, rows["a"].bytes) == ("completed", 1, len(data))
    assert await objects(workshop) == {"resources/a": data}
    assert sum(b"if-range" in head.lower() for head in server.heads) >= 2


@pytest.mark.parametrize("place", ["bytes {}-999/1000", "bytes 400-999/{}", "bytes 400-{}/1000"])
async def test_a_range_with_thousands_of_digits_is_refused(workshop: Workshop, place: str):
    async def send(peer: Peer) -> None:
        if b"range: bytes=" in peer.head.lower():
            where = place.format("9" * 5_000).encode()
            await peer.send(b'HTTP/1.1 206 Partial\r\nETag: "v1"\r\nContent-Range: %s\r\n\r\n' % where)
        else:
            await peer.send(b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: 1000\r\n\r\n', b"1" * 400)
        peer.writer.close()

    async with serving(routes(a=send)) as server:
        rows = await workshop.download([file(server, "a")])
    assert (rows["a"].state, rows["a"].reason, rows["a"].attempts) == ("failed", "truncated", 3)


async def test_a_file_that_changed_meanwhile_is_downloaded_from_the_start(workshop: Workshop):
    answers = iter([(b'"v1"', b"1" * 1000), (b'"v2"', b"2" * 1000), (b'"v2"', b"2" * 1000)])

    async def send(peer: Peer) -> None:
        etag, body = next(answers)
        await peer.send(b"HTTP/1.1 200 OK\r\nETag: %s\r\nContent-Length: 1000\r\n\r\n" % etag)
        if etag == b'"v1"':
            await peer.send(body[:400])
            peer.writer.close()
        else:
            await peer.send(body)

    async with serving(routes(a=send)) as server:
        rows = await workshop.download([file(server, "a")])
    assert (rows["a"].state, rows["a"].attempts) == ("completed", 2)
    assert await objects(workshop) == {"resources/a": b"2" * 1000}


async def test_files_that_redirect_to_one_url_are_stored_separately(workshop: Workshop):
    async with serving(routes(cdn=lambda peer: peer.answer(b"there"))) as cdn:
        there = status(302, b"Location: %s\r\n" % cdn.url("/cdn", "cdn.test").encode())
        async with serving(routes(a=there, b=there, c=status(302, b"Location: /d\r\n"), d=there)) as server:
            rows = await workshop.download([file(server, name) for name in "abc"])
    assert {(row.state, row.attempts) for row in rows.values()} == {("completed", 1)}
    assert await objects(workshop) == {f"resources/{name}": b"there" for name in "abc"}
    assert len(cdn.heads) == 3


async def test_headers_of_an_order_go_to_its_own_origin_alone(workshop: Workshop):
    given = (("authorization", "Bearer x"), ("accept-encoding", "gzip"), ("x-own", "1"), ("range", "bytes=0-1"))
    headers = VAULT.lock(Credentials(given).text())
    async with serving(routes(cdn=lambda peer: peer.answer(b"there"))) as cdn:
        there = status(302, b"Location: %s\r\n" % cdn.url("/cdn", "cdn.test").encode())
        async with serving(routes(a=there)) as server:
            await workshop.download([file(server, "a", headers=headers)])
    [own], [foreign] = server.heads, cdn.heads
    assert b"authorization: bearer x" in own.lower()
    assert b"x-own: 1" in own.lower()
    assert b"gzip" not in own
    assert b"range" not in own.lower()
    assert b"authorization" not in foreign.lower()


async def test_a_redirect_loop_and_a_long_chain_end(workshop: Workshop):
    ring = routes(
        a=status(302, b"Location: /b\r\n"),
        b=status(302, b"Location: /a\r\n"),
        **{f"c{n}": status(302, b"Location: /c%d\r\n" % (n + 1)) for n in range(9)},
    )
    async with serving(ring) as server:
        rows = await workshop.download([file(server, "a"), file(server, "c0")])
    assert (rows["a"].reason, rows["c0"].reason) == ("redirect_loop", "too_many_redirects")


async def test_a_file_without_a_working_proxy_fails(workshop: Workshop):
    async with serving(routes(a=lambda peer: peer.answer(b"x"))) as server:
        proxies = Proxies(workshop.records.proxies, VAULT)
        await proxies.ensure(["http://127.0.0.1:1", "http://127.0.0.1:2"])
        rows = await workshop.download([file(server, "a")])
    assert (rows["a"].state, rows["a"].reason) == ("failed", "proxy_exhausted")
    assert rows["a"].proxy is None or rows["a"].proxy.startswith("http://127.0.0.1")
    assert server.heads == []
    assert Proxy.parse("http://127.0.0.1:1").port == 1
