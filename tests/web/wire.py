"""HTTP/1.1 over asyncio streams, with enough control over the bytes to misbehave on purpose."""

import asyncio
import http
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

BODILESS = (204, 304)


@dataclass(frozen=True)
class Request:
    """A received request; `target` is the path with its query, header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    port: int
    body: bytes = b""

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return urlsplit(self.target).path

    def query(self, name: str, default: str) -> str:
        """Return one value of the query."""
        return parse_qs(urlsplit(self.target).query).get(name, [default])[0]


@dataclass(frozen=True)
class Answer:
    """A well-formed answer; its length is computed if the headers have none."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"

    def head(self) -> bytes:
        """Return status line and headers, up to and with the empty line."""
        fields = [("Content-Type", self.content_type), *self.headers]
        if self.status not in BODILESS and not any(name == "Content-Length" for name, _ in fields):
            fields.append(("Content-Length", str(len(self.body))))
        lines = [f"HTTP/1.1 {self.status} {phrase(self.status)}", *(f"{name}: {value}" for name, value in fields)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


class Connection:
    """One client's connection, for the handler of its request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> Request | None:
        """Return the next request with its body, or None when the client is done."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Request(method, target, headers, self.writer.get_extra_info("peername")[1], body)

    async def send(self, answer: Answer, method: str = "GET") -> None:
        """Write an answer; HEAD gets none of its body."""
        await self.send_raw(answer.head() + (b"" if method == "HEAD" else answer.body))

    async def send_raw(self, data: bytes) -> None:
        """Write bytes as they are, valid HTTP or not."""
        self.writer.write(data)
        await self.writer.drain()

    async def send_pieces(self, answer: Answer, pieces: Iterable[bytes]) -> None:
        """Write the answer's head, then the body piece by piece, never more at once than the client takes."""
        self.writer.write(answer.head())
        for piece in pieces:
            await self.send_raw(piece)

    async def wait_for_goodbye(self) -> None:
        """Send nothing until the client has closed the connection."""
        while await self.reader.read(65536):
            pass

    def reset(self) -> None:
        """Break the connection with a RST: the client sees "connection reset by peer"."""
        linger_not = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
        self.writer.transport.abort()


class Closed(Exception):
    """The answer ended the connection; no further request is read from it."""


Respond = Callable[[Request, Connection], Awaitable[None]]


async def serve_connection(connection: Connection, respond: Respond) -> None:
    """Answer one request after the other until either side closes; a request that is not HTTP ends it too."""
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, Closed):
        while request := await connection.request():
            try:
                await respond(request, connection)
            except ValueError as error:
                await connection.send(Answer(400, str(error).encode(), content_type="text/plain"), request.method)
            if request.headers.get("connection", "").lower() == "close":
                return


def phrase(status: int) -> str:
    """Return the reason phrase of a status, if it has one."""
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
