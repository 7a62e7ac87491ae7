"""A real HTTP/2 server for one test, in the test's own loop, by the h2 library over TLS with ALPN."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived
from h2.exceptions import ProtocolError

Headers = list[tuple[str, str]]


class Stream:
    """One request, and the methods to answer it in pieces."""

    def __init__(self, conversation: "Conversation", number: int, headers: Headers) -> None:
        self.conversation = conversation
        self.number = number
        self.headers = headers

    @property
    def path(self) -> str:
        return dict(self.headers)[":path"]

    def answer(self, body: bytes, *headers: tuple[str, str], length: int | None = None, ends: bool = True) -> None:
        """Send head and body; the declared length may differ from the true one."""
        told = ("content-length", str(len(body) if length is None else length))
        self.conversation.connection.send_headers(self.number, [(":status", "200"), told, *headers])
        self.conversation.connection.send_data(self.number, body, end_stream=ends)

    def reset(self) -> None:
        self.conversation.connection.reset_stream(self.number, error_code=2)

    def go_away(self) -> None:
        # The debug data of GOAWAY may be any text; this one tries to be mistaken for an error.
        words = b'", Library) TimedOut Parse('
        self.conversation.connection.close_connection(error_code=0, additional_data=words, last_stream_id=0)

    def hang_up(self) -> None:
        self.conversation.flush()
        if isinstance(self.conversation.transport, asyncio.WriteTransport):
            self.conversation.transport.abort()

    def babble(self) -> None:
        if isinstance(self.conversation.transport, asyncio.WriteTransport):
            self.conversation.transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")


Answering = Callable[[Stream], None]


class Conversation(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: "Http2Server") -> None:
        self.server = server
        self.connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.server.taken += 1
        self.server.conversations.add(self)
        self.transport = transport
        self.connection.initiate_connection()
        self.flush()

    def connection_lost(self, _: Exception | None) -> None:
        self.server.conversations.discard(self)

    def data_received(self, data: bytes) -> None:
        with suppress(ProtocolError):
            for event in self.connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    stream = Stream(self, event.stream_id, [(str(k), str(v)) for k, v in event.headers])
                    self.server.requests.append(stream)
                    self.server.answering(stream)
                elif isinstance(event, DataReceived):
                    self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush()

    def flush(self) -> None:
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.write(self.connection.data_to_send())


class Http2Server:
    """A server's address and the requests that it received."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.port = 0
        self.taken = 0
        self.requests: list[Stream] = []
        self.conversations: set[Conversation] = set()

    def url(self, path: str = "/") -> str:
        return f"https://site.test:{self.port}{path}"


@asynccontextmanager
async def serving_http2(answering: Answering, context: ssl.SSLContext) -> AsyncIterator[Http2Server]:
    """Run a server with this certificate that supports HTTP/2 alone."""
    context.set_alpn_protocols(["h2"])
    server = Http2Server(answering)
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: Conversation(server), "127.0.0.1", 0, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for conversation in tuple(server.conversations):
            if isinstance(conversation.transport, asyncio.WriteTransport):
                conversation.transport.abort()
        await asyncio.sleep(0)
