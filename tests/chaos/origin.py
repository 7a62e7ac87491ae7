"""A website on many loopback addresses that records the time and the path of each request, by its own clock.

It runs as a process of its own, so that no client delays its clock. It answers `GET /__visits` on its control address
with all recorded requests. The first request for a path like `/wait2/p7` is answered with 503 and a Retry-After of
that many seconds: as a number for even pages, and as a date for odd ones. A path like `/to/HOST/p7` redirects to the
first page of another host, and `/ring/p7` to itself on the next of three hosts.
"""

import argparse
import asyncio
import re
import sys
import time
from email.utils import formatdate

import orjson

BODY = b"<!doctype html><title>chaos</title><p>page</p>"
ROBOTS = b"User-agent: *\nAllow: /\n"


WAIT = re.compile(r"/wait(\d+)/p(\d+)")
TO = re.compile(r"/to/([\d.]+)/p\d+")
RING = re.compile(r"/ring/p\d+")


class Origin:
    """The requests so far: for each its host, path, start, end, and the seconds of its Retry-After."""

    def __init__(self, think: float, pages: int = 0) -> None:
        self.think, self.pages = think, pages
        self.visits: list[tuple[str, str, float, float, int]] = []
        self._told: set[tuple[str, str]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests on one connection until it ends."""
        host = writer.get_extra_info("sockname")[0]
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                await self._answer(host, request.split(b" ", 2)[1].decode(), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, host: str, path: str, writer: asyncio.StreamWriter) -> None:
        if path == "/__visits":
            await _send(writer, b"application/json", orjson.dumps(self.visits))
            return
        start, wait = time.monotonic(), self._wait(host, path)
        try:
            if self.think:
                await asyncio.sleep(self.think)
        finally:
            # Recorded for a dead client too: its request kept the server busy until here. Recorded before the answer is
            # sent: its reader may have it, and count from then, before this process runs again.
            self.visits.append((host, path, start, time.monotonic(), wait))
        if (target := _target(host, path)) is not None:
            await _redirect(writer, f"http://{target[0]}:{writer.get_extra_info('sockname')[1]}{target[1]}")
        elif wait:
            await _refuse(writer, _retry_after(path, wait))
        else:
            await _send(writer, b"text/html", self._body(path))

    def _wait(self, host: str, path: str) -> int:
        """Return the seconds of the Retry-After: for the first request of a page that has one."""
        asks = WAIT.fullmatch(path)
        if asks is None or (host, path) in self._told:
            return 0
        self._told.add((host, path))
        return int(asks[1])

    def _body(self, path: str) -> bytes:
        """Return the page of a path; the first page of a site with that many `pages` links to all the others."""
        if path == "/robots.txt":
            return ROBOTS
        if not self.pages:
            return BODY
        links = "".join(f'<a href="/story/{n}">{n}</a>' for n in range(1, self.pages)) if path == "/" else ""
        return f"<!doctype html><title>{path}</title><p>The story of {path}.</p>{links}".encode()


def _target(host: str, path: str) -> tuple[str, str] | None:
    """Return the host and path to which a path redirects, if it does."""
    if to := TO.fullmatch(path):
        return to[1], "/p0"
    if RING.fullmatch(path):
        front, _, last = host.rpartition(".")
        return f"{front}.{int(last) % 3 + 1}", path
    return None


async def _redirect(writer: asyncio.StreamWriter, url: str) -> None:
    lines = [b"HTTP/1.1 302 Found", b"Location: " + url.encode(), b"Content-Length: 0", b"", b""]
    writer.write(b"\r\n".join(lines))
    await writer.drain()


def _retry_after(path: str, wait: int) -> list[bytes]:
    """Return the headers with Retry-After; the clock of this site is wrong by a day."""
    now = int(time.time()) + 86_400
    asks = WAIT.fullmatch(path)
    dated = asks is not None and int(asks[2]) % 2
    after = formatdate(now + wait, usegmt=True) if dated else str(wait)
    return [b"Date: " + formatdate(now, usegmt=True).encode(), b"Retry-After: " + after.encode()]


async def _refuse(writer: asyncio.StreamWriter, headers: list[bytes]) -> None:
    lines = [b"HTTP/1.1 503 Service Unavailable", *headers, b"Content-Length: 0", b"", b""]
    writer.write(b"\r\n".join(lines))
    await writer.drain()


async def _send(writer: asyncio.StreamWriter, kind: bytes, body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    writer.write(head + body)
    await writer.drain()


async def main() -> None:
    """Listen on every address of the machine until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--pages", type=int, default=0)
    given = parser.parse_args()
    origin = Origin(given.think, given.pages)
    server = await asyncio.start_server(origin.serve, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(main())
