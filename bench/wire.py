"""A client with little CPU use, because the server is measured and both share the machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

HEAD = "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"


class Wire(asyncio.Protocol):
    """One kept connection with one request at a time."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._got = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: Any) -> None:
        """Store the transport."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake the waiting request."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server hung up"))

    def data_received(self, data: bytes) -> None:
        """Answer when the body is whole; every server here sends its length."""
        self._got += data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        if len(body) >= length and self._answer is not None:
            self._got = b""
            self._answer.set_result((int(head[9:12]), body))

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Send a POST, and return the status and the body of the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(HEAD.format(path=path, host=self._host, length=len(body)).encode() + body)
        return await self._answer

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


@asynccontextmanager
async def wires(address: str, count: int) -> AsyncIterator[list[Wire]]:
    """Yield that many connections to a server."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or 80
    loop = asyncio.get_running_loop()
    opened = [(await loop.create_connection(lambda: Wire(parts.netloc), host, port))[1] for _ in range(count)]
    try:
        yield opened
    finally:
        for wire in opened:
            wire.close()
