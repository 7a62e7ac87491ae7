"""A server for one test, in the test's own loop, that sends exactly the bytes of its script."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from longline.model.fetch.egress import Address

CERTIFICATE = Path(__file__).parent / "site.test.pem"
"""A self-signed certificate of site.test and its key."""

Script = Callable[["Peer"], Awaitable[None]]


class Peer:
    """One connection of the client, with its latest request."""

    def __init__(self, server: "Server", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer
        self.head = b""

    @property
    def path(self) -> str:
        return self.head.split(b" ")[1].decode()

    async def request(self) -> bool:
        """Read the next request; return False if there is none."""
        with suppress(asyncio.IncompleteReadError):
            self.head = await self.reader.readuntil(b"\r\n\r\n")
            self.server.heads.append(self.head)
            return True
        return False

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self, body: bytes = b"") -> None:
        await self.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def goodbye(self) -> None:
        """Wait until the client has closed the connection."""
        while await self.reader.read(65536):
            pass


class Server:
    """A server's address, the requests that it received, and the number of its connections."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.port = 0
        self.heads: list[bytes] = []
        self.taken = 0
        self.open = 0
        self.changed = asyncio.Condition()
        self.guests: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def until_open(self, count: int) -> None:
        """Wait until exactly that many connections are open."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.open == count)

    def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.attend(Peer(self, reader, writer)))
        self.guests.add(task)
        task.add_done_callback(self.guests.discard)

    async def attend(self, peer: Peer) -> None:
        self.taken += 1
        await self.count(1)
        try:
            with suppress(ConnectionError):
                await self.script(peer)
        finally:
            peer.writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await peer.writer.wait_closed()
            await self.count(-1)

    async def count(self, more: int) -> None:
        async with self.changed:
            self.open += more
            self.changed.notify_all()


@asynccontextmanager
async def serving(
    script: Script, secure: bool | ssl.SSLContext = False, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Server]:
    """Run a server with the script for every connection; `secure` may be a certificate other than the usual one."""
    server = Server(script)
    context = secure if isinstance(secure, ssl.SSLContext) else None
    if secure is True:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
    listener = await asyncio.start_server(server.welcome, host, port, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        guests = tuple(server.guests)
        for guest in guests:
            guest.cancel()
        await asyncio.gather(*guests, return_exceptions=True)


def says(*pieces: bytes) -> Script:
    """Return a script that reads one request, sends these bytes and hangs up."""

    async def script(peer: Peer) -> None:
        if await peer.request():
            await peer.send(*pieces)

    return script


async def keeps_answering(peer: Peer) -> None:
    """Answer every request with its path as the body."""
    while await peer.request():
        await peer.answer(peer.path.encode())


async def to_loopback(hostname: str) -> tuple[Address, ...]:
    """Return the address of this machine for every name."""
    return (ip_address("127.0.0.1"),)
