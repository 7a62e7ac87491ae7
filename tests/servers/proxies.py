"""Real proxies on loopback, HTTP and SOCKS5: with and without a password, some that die midway and some that lie.

Each runs in a thread with a loop of its own, so that its client may run in any loop. Names that end in .test resolve to
this machine; `NodeOptions.names` has other addresses for a proxy that is to resolve a name in its own way.
"""

import asyncio
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from longline.model.proxies.proxy_uri import Proxy, ProxyScheme

GONE = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


@dataclass(frozen=True)
class Manners:
    """The behaviour of a proxy.

    `says` is a status (HTTP) or a reply (SOCKS) for every client that is let in; `unknown` is the status for the
    others. `dies_at` is the passage in the middle of which it breaks all connections off and stops for good; of the
    answer in a tunnel `last_words` bytes are still sent.
    """

    username: str = ""
    password: str = ""
    says: int = 0
    unknown: int = 407
    dies_at: int = 0
    last_words: int = 60
    lies: bool = False
    hangs: bool = False
    tls: ssl.SSLContext | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Passage:
    """One request that was let through: its verb, and its target in the words of the client."""

    verb: str
    target: str
    at: float = field(default_factory=time.monotonic, compare=False)


class RunningProxy:
    """A proxy that accepts connections. `asked` counts requests to pass, `passages` are the successful ones."""

    def __init__(self, scheme: ProxyScheme, manners: Manners) -> None:
        self.scheme = scheme
        self.manners = manners
        self.port = 0
        self.asked = 0
        self.passages: list[Passage] = []
        self.opened: Future[int] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._guests: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def proxy(self) -> Proxy:
        """Return the proxy for a request; the host is an address, so that a certificate has to be for 127.0.0.1."""
        return Proxy(self.scheme, "127.0.0.1", self.port, self.manners.username, self.manners.password)

    @property
    def uri(self) -> str:
        """Return the proxy as an operator writes it, password included."""
        given = f"{self.manners.username}:{self.manners.password}@" if self.manners.username else ""
        return f"{self.scheme}://{given}127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        """Return the visited hosts, in order."""
        return [passage.target for passage in self.passages]

    def die(self) -> None:
        """Stop listening and break every connection; may be called from any thread, and again."""
        if self._loop and self._over:
            with suppress(RuntimeError):  # the loop may be closed already
                self._loop.call_soon_threadsafe(self._over.set)

    async def serve(self) -> None:
        """Accept connections until the proxy dies."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._welcome, "127.0.0.1", 0, ssl=self.manners.tls, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self.opened.set_result(self.port)
        await self._over.wait()
        server.close()
        guests = dict(self._guests)
        for task, writer in guests.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*guests, return_exceptions=True)

    def let_through(self, verb: str, target: str) -> bool:
        """Write down a passage; False when it is the one to die in."""
        self.passages.append(Passage(verb, target))
        return len(self.passages) != self.manners.dies_at

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._attend(reader, writer))
        self._guests[task] = writer
        task.add_done_callback(self._guests.pop)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        attend = attend_socks if self.scheme.startswith("socks") else attend_http
        try:
            with suppress(*GONE):
                if self.manners.hangs:
                    await reader.read(-1)
                await attend(self, reader, writer)
        finally:
            writer.close()
            with suppress(*GONE):
                await writer.wait_closed()


@contextmanager
def running_proxy(scheme: ProxyScheme = "http", manners: Manners | None = None) -> Iterator[RunningProxy]:
    """Yield a proxy for the time of the context, or until it dies of itself."""
    proxy = RunningProxy(scheme, manners or Manners())
    thread = threading.Thread(target=lambda: asyncio.run(proxy.serve()), name=f"{scheme} proxy", daemon=True)
    thread.start()
    proxy.opened.result(timeout=30)
    try:
        yield proxy
    finally:
        proxy.die()
        thread.join(timeout=30)


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def reached(proxy: RunningProxy, host: str, port: int) -> AsyncIterator[Streams]:
    """Yield a connection to the target, resolved the proxy's way."""
    usual = "127.0.0.1" if host.endswith(".test") else host.strip("[]")
    streams = await asyncio.open_connection(proxy.manners.names.get(host, usual), port)
    try:
        yield streams
    finally:
        streams[1].transport.abort()
        with suppress(*GONE):
            await streams[1].wait_closed()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None = None) -> None:
    """Relay bytes until there are no more, or that many have passed; relay a reset too."""
    try:
        while limit != 0 and (piece := await reader.read(65536 if limit is None else limit)):
            limit = None if limit is None else limit - len(piece)
            writer.write(piece)
            await writer.drain()
        if limit is None and writer.can_write_eof():
            writer.write_eof()
    except GONE:
        writer.transport.abort()


async def join(proxy: RunningProxy, client: Streams, target: Streams, lives: bool) -> None:
    """Relay both directions of a tunnel; in the passage of the death only half an answer."""
    upwards = asyncio.create_task(relay(client[0], target[1]))
    await relay(target[0], client[1], None if lives else proxy.manners.last_words)
    if not lives:
        await asyncio.sleep(0.02)  # the relayed bytes must arrive before the end does
        proxy.die()
    upwards.cancel()
    await asyncio.gather(upwards, return_exceptions=True)


# HTTP: plain URLs are forwarded, the rest is tunnelled


async def attend_http(proxy: RunningProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one request after the other until a tunnel or a refusal ends the connection."""
    while head := await read_head(reader):
        verb, url, _ = head[0].split(" ", 2)
        proxy.asked += 1
        status = refusal(proxy.manners, head)
        if status:
            return await say(writer, status)
        if verb == "CONNECT":
            return await tunnel(proxy, url, (reader, writer))
        if not await forward(proxy, url, head, writer):
            return None
    return None


async def read_head(reader: asyncio.StreamReader) -> list[str]:
    """Return the lines of a head; none when the other side has closed the connection."""
    with suppress(asyncio.IncompleteReadError):
        return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    return []


def refusal(manners: Manners, head: list[str]) -> int:
    """Return the status for a request that does not get through."""
    if manners.username:
        given = next((line.partition(":")[2].strip() for line in head if line.lower().startswith("proxy-auth")), "")
        pair = f"{manners.username}:{manners.password}".encode()
        if given != f"Basic {b64encode(pair).decode()}":
            return manners.unknown
    return manners.says


async def say(writer: asyncio.StreamWriter, status: int) -> None:
    """Send a refusal in the manner of tinyproxy, which answers a wrong password with a 401."""
    asks = {407: b"Proxy-Authenticate: Basic\r\n", 401: b"WWW-Authenticate: Basic\r\n"}.get(status, b"")
    writer.write(b"HTTP/1.1 %d No\r\nServer: tinyproxy/1.11.1\r\n%sContent-Length: 0\r\n\r\n" % (status, asks))
    await writer.drain()


async def tunnel(proxy: RunningProxy, target: str, client: Streams) -> None:
    """Open a way to the target and get out of it."""
    host, _, port = target.rpartition(":")
    try:
        async with reached(proxy, host, int(port)) as streams:
            lives = proxy.let_through("CONNECT", target)
            client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await join(proxy, client, streams, lives)
    except OSError:
        await say(client[1], 502)


async def forward(proxy: RunningProxy, url: str, head: list[str], writer: asyncio.StreamWriter) -> bool:
    """Send the request to the target and forward the answer; return true when the connection can be used again."""
    place = urlsplit(url)
    target = url[url.index(place.netloc) + len(place.netloc) :] or "/"
    kept = [line for line in head[1:] if not line.lower().startswith(("proxy-", "connection"))]
    asked = "\r\n".join([f"GET {target} HTTP/1.1", *kept, "Connection: close", "", ""]).encode("latin-1")
    try:
        async with reached(proxy, place.hostname or "", place.port or 80) as (reader, upwards):
            lives = proxy.let_through(head[0].split(" ")[0], f"{place.hostname}:{place.port or 80}")
            upwards.write(asked)
            return await answer(proxy, reader, writer, lives)
    except OSError:
        await say(writer, 502)
        return True


async def answer(proxy: RunningProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lives: bool) -> bool:
    """Forward head and body, changed as the options of the proxy demand."""
    first, *lines = await read_head(reader)
    sizes = [int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-length:")]
    body, is_whole = await read_body(reader, sizes[0] if sizes else None)
    kept = [line for line in lines if not line.lower().startswith(("content-length", "connection"))]
    promised = (len(body) if is_whole else sizes[0]) + 10 * proxy.manners.lies
    kept += ["Via: 1.1 proxy", f"Content-Length: {promised}"]
    writer.write("\r\n".join([first, *kept, "", ""]).encode("latin-1"))
    writer.write(body if lives else body[: len(body) // 2])
    await writer.drain()
    if not lives:
        await asyncio.sleep(0.02)  # the relayed bytes must arrive before the end does
        proxy.die()
    return lives and is_whole and not proxy.manners.lies


async def read_body(reader: asyncio.StreamReader, size: int | None) -> tuple[bytes, bool]:
    """Return the body of an answer as far as it arrived, and true if it is whole."""
    if size is None:
        return await reader.read(-1), True
    try:
        return await reader.readexactly(size), True
    except asyncio.IncompleteReadError as broken:
        return broken.partial, False


# SOCKS5: RFC 1928, passwords by RFC 1929


async def attend_socks(proxy: RunningProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Greet, check the password, open the tunnel, and relay."""
    _, count = await reader.readexactly(2)
    proxy.asked += 1
    if not await authenticated(proxy.manners, await reader.readexactly(count), reader, writer):
        return None
    host, port = await read_target(reader)
    if proxy.manners.says:
        return await reply(writer, proxy.manners.says)
    try:
        async with reached(proxy, host, port) as streams:
            lives = proxy.let_through("SOCKS", f"{host}:{port}")
            await reply(writer, 0)
            await join(proxy, (reader, writer), streams, lives)
    except OSError as error:
        await reply(writer, 5 if isinstance(error, ConnectionRefusedError) else 4)
    return None


async def authenticated(
    manners: Manners, methods: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Return true if the client may use the proxy."""
    method = 2 if manners.username else 0
    writer.write(bytes([5, method if method in methods else 0xFF]))
    if method not in methods or method == 0:
        return method in methods
    await reader.readexactly(1)
    given = [(await reader.readexactly((await reader.readexactly(1))[0])).decode() for _ in range(2)]
    known = given == [manners.username, manners.password]
    writer.write(bytes([1, not known]))
    return known


async def read_target(reader: asyncio.StreamReader) -> tuple[str, int]:
    """Return host and port of a CONNECT; an address differs from a name by its dots and colons."""
    kind = (await reader.readexactly(4))[3]
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
    else:
        host = str(ip_address(await reader.readexactly(4 if kind == 1 else 16)))
    return host, int.from_bytes(await reader.readexactly(2))


async def reply(writer: asyncio.StreamWriter, code: int) -> None:
    """Send the reply of a CONNECT."""
    writer.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
    await writer.drain()
