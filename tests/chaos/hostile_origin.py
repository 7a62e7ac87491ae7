"""A website on many loopback addresses: good hosts on 127.0.2.x, and hosts on 127.0.1.x that try to stop a crawler.

It runs as a process of its own. `GET /__counts` returns the number of pages that each address has served.
"""

import argparse
import asyncio
import gzip
import sys
from collections import Counter
from collections.abc import Callable

import orjson

GOOD = "127.0.2."
LINKS = 40_000
LEADS = 20
"""Further hostile links of a hostile page, so that there is always another one."""

WORDS = " ".join(["some words of a story that somebody may want to read"] * 40).encode()


def _leads(number: int, count: int = LEADS) -> bytes:
    return b"".join(b'<a href="/story-of-page-%d/">more</a>' % (number * count + n + 1) for n in range(count))


def good(number: int) -> bytes:
    """Return an ordinary page."""
    body = b"<p>%b</p>" % WORDS
    return b"<!doctype html><meta charset=utf-8><title>Story %d</title>%b%b" % (number, body * 4, _leads(number, 40))


def many_links(number: int) -> bytes:
    """Return a page of very many links, none of which is on another page."""
    return b"".join(b'<a href="/many-links-on-page-%d/%d/">l</a>' % (number, n) for n in range(LINKS))


def deep(number: int) -> bytes:
    """Return a page that is nested very deeply."""
    return _leads(number) + b"<div>" * 100_000


def small_and_deep(number: int) -> bytes:
    """Return a page that looks harmless by its size."""
    return _leads(number) + b"<div>" * 12_000


def large(number: int) -> bytes:
    """Return a page of nine megabytes."""
    return _leads(number) + (b"<p>%b</p>" % WORDS) * (9_000_000 // len(WORDS))


def attributes(number: int) -> bytes:
    """Return a page with a tag of very many attributes."""
    return _leads(number) + b"<p" + b"".join(b" a%d" % n for n in range(200_000)) + b">"


def few_attributes(number: int) -> bytes:
    """Return a page that looks harmless by its size, with a tag of many attributes."""
    return _leads(number) + b"<p" + b"".join(b" a%d" % n for n in range(9_000)) + b">"


def metas(number: int) -> bytes:
    """Return a page in which an encoding is looked for in vain."""
    return _leads(number) + b"<meta " * 40_000


def scripts(number: int) -> bytes:
    """Return a page of scripts that are not closed."""
    return _leads(number) + b" " * 2000 + b"<meta charset=x>" + b"<script " * 30_000


def bad_feed(number: int) -> bytes:
    """Return a feed of nested entities and very many attributes."""
    entities = b"".join(b'<!ENTITY e%d "&e%d;&e%d;&e%d;">' % (n + 1, n, n, n) for n in range(30))
    said = b"".join(b' a%d="x"' % n for n in range(20_000))
    doctype = b'<!DOCTYPE rss [<!ENTITY e0 "x">%b]>' % entities
    links = b"".join(b"<item><link>/story-of-page-%d/</link></item>" % (number * LEADS + n + 1) for n in range(LEADS))
    return b'<?xml version="1.0"?>%b<rss><channel%b><title>&e30;</title>%b</channel></rss>' % (doctype, said, links)


def long_base(number: int) -> bytes:
    """Return a page whose short links are all long URLs."""
    links = b"".join(b"<a href=%d/>l</a>" % n for n in range(10_000))
    return b'<base href="/%b/%d/">%b' % (b"a" * 7_000, number, links)


PAGES: tuple[Callable[[int], bytes], ...] = (
    *(many_links, deep, small_and_deep, large, attributes, few_attributes, metas, scripts, bad_feed, long_base),
)
WAYS = ("slow", "endless", "bomb")
KINDS = (*(page.__name__ for page in PAGES), *WAYS)


def kind_of(address: str) -> str:
    """Return how an address is hostile."""
    return KINDS[int(address.rpartition(".")[2]) % len(KINDS)]


class Origin:
    """All the hosts; `served` counts their pages."""

    def __init__(self) -> None:
        self.served: Counter[str] = Counter()
        self._bomb = gzip.compress(b"<p>" + b" " * 500_000_000, 9)
        self._pages = {page.__name__: page for page in PAGES}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests on one connection until it ends."""
        address = writer.get_extra_info("sockname")[0]
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                await self._answer(address, request.split(b" ", 2)[1].decode(), writer)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, address: str, path: str, writer: asyncio.StreamWriter) -> None:
        if path == "/__counts":
            await _send(writer, orjson.dumps(self.served), kind=b"application/json")
        elif path == "/robots.txt":
            await _send(writer, b"User-agent: *\nAllow: /\n", kind=b"text/plain")
        else:
            self.served[address] += 1
            digits = "".join(c for c in path[:40] if c.isdigit())
            await self._page(address, int(digits[:9] or 0), writer)

    async def _page(self, address: str, number: int, writer: asyncio.StreamWriter) -> None:
        kind = kind_of(address)
        if address.startswith(GOOD):
            await _send(writer, good(number))
        elif kind in self._pages:
            await _send(writer, await asyncio.to_thread(self._pages[kind], number))
        elif kind == "bomb":
            await _send(writer, self._bomb, encoding=b"gzip")
        else:
            await _trickle(writer, _leads(number), 0.3 if kind == "slow" else 0.0)


async def _send(writer: asyncio.StreamWriter, body: bytes, kind: bytes = b"text/html", encoding: bytes = b"") -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n" % (kind, len(body))
    writer.write(head + (b"Content-Encoding: %b\r\n" % encoding if encoding else b"") + b"\r\n" + body)
    await writer.drain()


async def _trickle(writer: asyncio.StreamWriter, leads: bytes, pause: float) -> None:
    """Send a page without an end, slowly or as fast as it is read."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = leads
    while True:
        writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(pause)
        chunk = b"<p>x</p>" if pause else b"<p>word</p>" * 6_000


async def main() -> None:
    """Listen on every address of the machine until standard input ends."""
    argparse.ArgumentParser().parse_args()
    server = await asyncio.start_server(Origin().serve, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(main())
