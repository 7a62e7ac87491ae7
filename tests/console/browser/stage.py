"""A platform with its console in a thread of its own, behind a proxy whose connections can be cut."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from longline.ports.records import Records
from longline.settings import Settings
from tests.console.visiting import token
from tests.surfaces.intervals.platform import Door, open_door

T = TypeVar("T")


class CuttingProxy:
    """A relay on loopback to one server."""

    def __init__(self, host: str, port: int) -> None:
        self._target, self._writers = (host, port), set[asyncio.StreamWriter]()
        self.address = ""

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        self._writers |= {writer, back}
        try:
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            self._writers -= {writer, back}

    def cut(self) -> int:
        """Close every connection; return how many."""
        found = list(self._writers)
        for writer in found:
            writer.transport.abort()
        return len(found) // 2


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.close()


class Stage:
    """A running platform; coroutines run in its loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, door: Door, proxy: CuttingProxy) -> None:
        self.loop, self.door, self.proxy = loop, door, proxy

    @property
    def address(self) -> str:
        return self.proxy.address

    @property
    def records(self) -> Records:
        return self.door.platform.records

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop of the platform."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def cut(self) -> int:
        """Cut every connection of the browser."""

        async def cut() -> int:
            return self.proxy.cut()

        return self.run(cut())

    def token(self, role: str = "admin") -> str:
        """Return a token of a person with this role."""
        return token(self.door, role)


@contextmanager
def running_stage(settings: Settings) -> Iterator[Stage]:
    """Yield a platform for the time of the context."""
    ready, found = threading.Event(), list[Any]()
    done = asyncio.Event()

    async def serve() -> None:
        async with open_door(settings) as door:
            place = urlsplit(door.address)
            proxy = CuttingProxy(place.hostname or "", place.port or 0)
            server = await proxy.start()
            found.append(Stage(asyncio.get_running_loop(), door, proxy))
            ready.set()
            await done.wait()
            server.close()
            proxy.cut()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            found.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait(120)
    if not found or isinstance(found[0], BaseException):
        raise RuntimeError("the platform did not start") from (found[0] if found else None)
    try:
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(done.set)
        thread.join(60)
