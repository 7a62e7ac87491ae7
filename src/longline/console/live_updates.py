"""Live parts of pages: parts that several pages show are read and rendered once, and each page has one stream."""

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import aclosing
from functools import partial

from longline.console.template_filters import zone_name
from longline.model.errors import LonglineError, Unavailable
from longline.model.whole_number import whole_number
from longline.services.logs.event_streams import ClientLimit
from longline.surfaces.sse import EventStream, frame

MAX_PAGES = 200
"""Largest number of pages with an open stream; the streams of the doors have places of their own."""

TICK_SECONDS = 5.0
HEARTBEAT_SECONDS = 5.0
"""Seconds of silence after which a page is told that its stream is open."""

SESSION_CHECK_SECONDS = 5.0
"""Seconds between two looks for sessions that have ended: their streams end."""

MAX_WAITING_FRAMES = 8
RETRY_FRAME = b"retry: 1000\n\n"

Parts = dict[str, str]
ReadParts = Callable[[], Awaitable[Parts]]
Frames = AsyncIterator[bytes]
InForce = Callable[[Iterable[str]], Awaitable[set[str]]]
"""Returns those of these sessions that have not ended."""

_log = logging.getLogger(__name__)


class TooManyLivePages(Unavailable):
    """All places for streams of pages are taken."""

    def __init__(self) -> None:
        super().__init__(f"{MAX_PAGES} pages are open already")


class LiveTopic:
    """The parts of one kind of page, read while such a page is open. A slow page skips states and gets the newest."""

    def __init__(self, read: ReadParts, tick_seconds: float) -> None:
        self._read, self._tick_seconds = read, tick_seconds
        self._parts: dict[str, tuple[int, str]] = {}
        self._version, self._birth = 0, secrets.token_hex(4)
        self._changed = asyncio.Event()
        self.pages = 0

    async def run(self) -> None:
        """Read the parts again and again."""
        while True:
            try:
                self._note(await self._read())
            except Exception as error:  # other pages of the topic may come, and need the reading
                _tell("live parts not read", error)
            await asyncio.sleep(self._tick_seconds)

    def _note(self, parts: Parts) -> None:
        changed = {name: html for name, html in parts.items() if self._parts.get(name, (0, None))[1] != html}
        self._parts = {name: kept for name, kept in self._parts.items() if name in parts}
        if changed:
            self._version += 1
            self._parts |= {name: (self._version, html) for name, html in changed.items()}
            self._changed.set()
            self._changed = asyncio.Event()

    async def follow(self, mark: str = "") -> AsyncGenerator[tuple[str, Parts]]:
        """Yield all parts, or those that changed since a mark, and then those that change, each time with the mark."""
        seen = self._seen(mark)
        while True:
            waiting = self._changed
            news = {name: html for name, (version, html) in self._parts.items() if version > seen}
            if news:
                seen = self._version
                yield f"{self._birth}.{seen}", news
            else:
                await waiting.wait()

    def _seen(self, mark: str) -> int:
        """Return the version of a mark; 0 for a mark of another topic, which may be one that has ended."""
        birth, _, version = mark.partition(".")
        known = whole_number(version) if birth == self._birth else None
        return min(known or 0, self._version)


class StreamedSessions:
    """The sessions with an open stream. One statement finds those that have ended, however many streams there are."""

    def __init__(self, in_force: InForce) -> None:
        self._in_force, self._open = in_force, Counter[str]()
        self._looked = asyncio.Event()
        self._ended: set[str] = set()
        self._looking: asyncio.Task[None] | None = None

    async def end_of(self, session: str) -> None:
        """Return when a session has ended."""
        self._open[session] += 1
        self._looking = self._looking or asyncio.create_task(self._look())
        try:
            while session not in self._ended:
                await self._looked.wait()
        finally:
            self._open[session] -= 1
            self._open = +self._open
            if not self._open and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(SESSION_CHECK_SECONDS)
            try:
                sessions = set(self._open)
                self._ended = sessions - await self._in_force(sessions)
            except Exception as error:  # without a look no stream ends with its session
                _tell("sessions of live pages not read", error)
            self._looked.set()
            self._looked = asyncio.Event()


def _tell(message: str, error: Exception) -> None:
    """Log a failed reading, an unexpected error with its stack."""
    is_expected = isinstance(error, LonglineError)
    level = logging.WARNING if is_expected else logging.ERROR
    _log.log(level, message, extra={"error": str(error)}, exc_info=None if is_expected else error)


class LivePages:
    """All open pages of this process."""

    def __init__(
        self,
        in_force: InForce,
        max_pages: int = MAX_PAGES,
        tick_seconds: float = TICK_SECONDS,
        now: Callable[[], int] = lambda: 0,
    ) -> None:
        self._seats, self._tick_seconds, self._now = ClientLimit(max_pages), tick_seconds, now
        self._sessions = StreamedSessions(in_force)
        self._topics: dict[Hashable, tuple[LiveTopic, asyncio.Task[None]]] = {}
        self._closed = asyncio.Event()

    @property
    def open_pages(self) -> int:
        """Return the number of pages with an open stream."""
        return self._seats.taken

    async def topic(self, key: Hashable, read: ReadParts) -> Frames:
        """Yield frames with the parts of a topic; pages with the same key and time zone share one reading."""
        async with aclosing(self.parts(key, read)) as found:
            async for _, parts in found:
                yield frame("parts", parts)

    async def parts(self, key: Hashable, read: ReadParts, mark: str = "") -> AsyncGenerator[tuple[str, Parts]]:
        """Yield the parts of a topic with their marks, from behind a mark that the page has."""
        # The task below keeps the context of the page that began it, and with it the time zone of its visitor.
        key = (key, zone_name())
        found = self._topics.get(key)
        if found is None:
            made = LiveTopic(read, self._tick_seconds)
            found = self._topics[key] = made, asyncio.create_task(made.run())
        topic, running = found
        topic.pages += 1
        try:
            async for news in topic.follow(mark):
                yield news
        finally:
            topic.pages -= 1
            if not topic.pages:
                running.cancel()
                self._topics.pop(key, None)

    def stream(self, sources: Sequence[Frames], session: str) -> EventStream:
        """Return the one stream of a page, which ends with its session; raise `TooManyLivePages` beyond the limit."""
        if not self._seats.take():
            raise TooManyLivePages
        lost = asyncio.Event()
        return EventStream(self._merged(sources, session), self._seats.release, lost)

    async def _merged(self, sources: Sequence[Frames], session: str) -> Frames:
        waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_WAITING_FRAMES)

        async def pump(source: Frames) -> None:
            async for data in source:
                await waiting.put(data)

        async def end(moment: Callable[[], Awaitable[object]]) -> None:
            await moment()
            await waiting.put(None)

        pumps = [pump(source) for source in sources]
        ends = [end(self._closed.wait), end(partial(self._sessions.end_of, session))]
        tasks = [asyncio.create_task(one) for one in (*pumps, *ends)]
        try:
            yield RETRY_FRAME + self._alive()
            while (data := await self._next(waiting)) is not None:
                yield data
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _next(self, waiting: "asyncio.Queue[bytes | None]") -> bytes | None:
        try:
            return await asyncio.wait_for(waiting.get(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return self._alive()

    def _alive(self) -> bytes:
        """Return a sign of life, with the time that countdowns go by."""
        return frame("alive", {"now": self._now()})

    def close(self) -> None:
        """End all streams."""
        self._closed.set()
