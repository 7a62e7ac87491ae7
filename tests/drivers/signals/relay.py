"""An address behind which a server can be replaced, cut off or made silent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Relay:
    """Passes bytes between clients and the server it is pointed at."""

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
        """The same URL by way of the relay."""
        parts = urlsplit(url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    def point_at(self, url: str | None) -> None:
        """Pass new connections to the server of this URL, or to nobody."""
        parts = urlsplit(url) if url else None
        self._target = (parts.hostname or "", parts.port or 0) if parts else None

    def cut(self) -> None:
        """End every connection without a word."""
        for writer in self._writers:
            writer.transport.abort()

    def hold(self) -> None:
        """Let connections stand but pass nothing on: what a cable that was pulled looks like."""
        self._flowing.clear()

    def release(self) -> None:
        """Pass on again."""
        self._flowing.set()

    async def next_client(self) -> None:
        """Wait for somebody to come."""
        self._came.clear()
        await self._came.wait()

    async def stop(self) -> None:
        """End everything, and wait until it has ended."""
        self._target = None
        self.release()
        while self._serving:
            self.cut()
            await asyncio.wait(self._serving, timeout=0.1)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a client."""
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
    """A relay that is pointed at a server."""
    relay = Relay()
    relay.point_at(url)
    async with await asyncio.start_server(relay.accept, "127.0.0.1", 0) as server:
        relay.port = server.sockets[0].getsockname()[1]
        try:
            yield relay
        finally:
            server.close()
            await relay.stop()
