"""Live parts of pages: parts that several pages show are read and rendered once, and each page has one stream."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable, Sequence

from longline.model.errors import LonglineError, Unavailable
from longline.services.logs.event_streams import ClientLimit
from longline.surfaces.sse import EventStream, frame

MAX_PAGES = 200
"""Largest number of pages with an open stream; the streams of the doors have places of their own."""

TICK_SECONDS = 5.0
ALIVE_SECONDS = 5.0
"""Seconds of silence after which a page is told that its stream is open."""

MAX_WAITING_FRAMES = 8
RETRY_FRAME = b"retry: 1000\n\n"

Parts = dict[str, str]
ReadParts = Callable[[], Awaitable[Parts]]
Frames = AsyncIterator[bytes]

_log = logging.getLogger(__name__)


class NoSeat(Unavailable):
    """All places for streams of pages are taken."""

    def __init__(self) -> None:
        super().__init__(f"{MAX_PAGES} pages are open already")


class LiveTopic:
    """The parts of one kind of page, read while such a page is open. A slow page skips states and gets the newest."""

    def __init__(self, read: ReadParts, tick_seconds: float) -> None:
        self._read, self._tick_seconds = read, tick_seconds
        self._parts: dict[str, tuple[int, str]] = {}
        self._version = 0
        self._changed = asyncio.Event()
        self.pages = 0

    async def run(self) -> None:
        """Read the parts again and again."""
        while True:
            try:
                self._note(await self._read())
            except LonglineError as error:
                _log.warning("live parts not read", extra={"error": str(error)})
            await asyncio.sleep(self._tick_seconds)

    def _note(self, parts: Parts) -> None:
        changed = {name: html for name, html in parts.items() if self._parts.get(name, (0, None))[1] != html}
        if changed:
            self._version += 1
            self._parts |= {name: (self._version, html) for name, html in changed.items()}
            self._changed.set()
            self._changed = asyncio.Event()

    async def follow(self) -> AsyncGenerator[Parts]:
        """Yield all parts, and then those that change."""
        seen = 0
        while True:
            waiting = self._changed
            news = {name: html for name, (version, html) in self._parts.items() if version > seen}
            if news:
                seen = self._version
                yield news
            else:
                await waiting.wait()


class LivePages:
    """All open pages of this process."""

    def __init__(self, max_pages: int = MAX_PAGES, tick_seconds: float = TICK_SECONDS) -> None:
        self._seats, self._tick_seconds = ClientLimit(max_pages), tick_seconds
        self._topics: dict[Hashable, tuple[LiveTopic, asyncio.Task[None]]] = {}
        self._closed = asyncio.Event()

    @property
    def open_pages(self) -> int:
        """Return the number of pages with an open stream."""
        return self._seats.taken

    async def topic(self, key: Hashable, read: ReadParts) -> Frames:
        """Yield frames with the parts of a topic; pages with the same key share one reading."""
        found = self._topics.get(key)
        if found is None:
            made = LiveTopic(read, self._tick_seconds)
            found = self._topics[key] = made, asyncio.create_task(made.run())
        topic, running = found
        topic.pages += 1
        try:
            async for parts in topic.follow():
                yield frame("parts", parts)
        finally:
            topic.pages -= 1
            if not topic.pages:
                running.cancel()
                self._topics.pop(key, None)

    def stream(self, sources: Sequence[Frames]) -> EventStream:
        """Return the one stream of a page, from all its sources; raise `NoSeat` when too many pages are open."""
        if not self._seats.take():
            raise NoSeat
        lost = asyncio.Event()
        return EventStream(self._merged(sources), self._seats.release, lost)

    async def _merged(self, sources: Sequence[Frames]) -> Frames:
        waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_WAITING_FRAMES)

        async def pump(source: Frames) -> None:
            async for data in source:
                await waiting.put(data)

        async def end() -> None:
            await self._closed.wait()
            await waiting.put(None)

        tasks = [asyncio.create_task(pump(source)) for source in sources] + [asyncio.create_task(end())]
        try:
            yield RETRY_FRAME + frame("alive", {})
            while (data := await _next(waiting)) is not None:
                yield data
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """End all streams."""
        self._closed.set()


async def _next(waiting: "asyncio.Queue[bytes | None]") -> bytes | None:
    try:
        return await asyncio.wait_for(waiting.get(), ALIVE_SECONDS)
    except TimeoutError:
        return frame("alive", {})
