"""An address behind which a server can be replaced, cut off or silenced."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Relay:
    """A relay that passes bytes between clients and its server."""

    def __init__(self) -> None:
        self.port = 0
        self.accepted = 0
        self._target: tuple[str, int] | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._came = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()

    def url(self, url: str) -> str:
        """Return the same URL by way of the relay."""
        parts = urlsplit(url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    def point_at(self, url: str | None) -> None:
        """Pass new connections to the server of this URL, or refuse them."""
        parts = urlsplit(url) if url else None
        self._target = (parts.hostname or "", parts.port or 0) if parts else None

    def cut(self) -> None:
        """Abort every connection."""
        for writer in self._writers:
            writer.transport.abort()

    def hold(self) -> None:
        """Keep connections open but pass no bytes on, as with an unplugged cable."""
        self._flowing.clear()

    def release(self) -> None:
        """Pass bytes on again."""
        self._flowing.set()

    async def next_client(self) -> None:
        """Wait for a new client."""
        self._came.clear()
        await self._came.wait()

    async def stop(self) -> None:
        """Abort every connection, and wait until all have ended."""
        self._target = None
        self.release()
        while self._serving:
            self.cut()
            await asyncio.wait(self._serving, timeout=0.1)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a client."""
        self.accepted += 1
        self._came.set()
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._target is None:
            writer.transport.abort()
            return
        with suppress(OSError):
            there, back = await asyncio.open_connection(*self._target)
            self._writers |= {writer, back}
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
            self._writers -= {writer, back}
        writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def relay_to(url: str) -> AsyncIterator[Relay]:
    """Run a relay for a server."""
    relay = Relay()
    relay.point_at(url)
    async with await asyncio.start_server(relay.accept, "127.0.0.1", 0) as server:
        relay.port = server.sockets[0].getsockname()[1]
        try:
            yield relay
        finally:
            server.close()
            await relay.stop()
