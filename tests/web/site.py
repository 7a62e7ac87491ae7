"""The site itself: the answer of each path, and the log of requests."""

import asyncio
import json
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from tests.web.pages import number_of, page, path_of
from tests.web.trouble import moved, trouble_at
from tests.web.wire import Answer, Connection, Request

ROBOTS = "User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True)
class Visit:
    """One request in the log; `time` is monotonic seconds, so that differences are true."""

    method: str
    path: str
    time: float
    headers: dict[str, str]
    port: int


class Site:
    """A site of that many pages, each answered after `delay` seconds. `robots` is a text, or a status in its place."""

    def __init__(self, pages: int = 500, delay: float = 0.0, robots: str | int = ROBOTS) -> None:
        self.pages = pages
        self.delay = delay
        self.robots = robots
        self.requests: list[Visit] = []
        self.held_after: int | None = None
        """Each request after that many is logged, and gets no page as long as the attribute is set."""
        self.etags = False
        """Pages have an ETag, and a conditional request for a known one gets 304."""
        self.extra: dict[str, bytes | Answer | Callable[[Request], Answer]] = {}
        """Pages and answers of a test's own, by path; they take precedence over all others."""

    @property
    def paths(self) -> list[str]:
        """Return the paths of the pages: exactly the pages that a crawl from "/" must find."""
        return [path_of(number) for number in range(self.pages)]

    async def respond(self, request: Request, connection: Connection) -> None:
        """Log the request and answer it; /__log returns the log, and is not in it."""
        if request.path == "/__log":
            told = json.dumps([asdict(visit) for visit in self.requests]).encode()
            await connection.send(Answer(body=told, content_type="application/json"), request.method)
            return
        self.requests.append(
            Visit(request.method, request.target, time.monotonic(), request.headers, request.port),
        )
        number = len(self.requests)
        trouble = trouble_at(request.path)
        if trouble:
            await trouble(request, connection)
        else:
            await self._serve(request, connection, number)

    async def _serve(self, request: Request, connection: Connection, number: int) -> None:
        while self.held_after is not None and number > self.held_after:  # noqa: ASYNC110 - told in another thread
            await asyncio.sleep(0.02)
        if self.delay:
            await asyncio.sleep(self.delay)
        answer = self._answer(request)
        await connection.send(
            tagged(answer, request) if self.etags and answer.status == 200 else answer, request.method
        )

    def _answer(self, request: Request) -> Answer:
        if request.path in self.extra:
            said = self.extra[request.path]
            if callable(said):
                return said(request)
            return said if isinstance(said, Answer) else Answer(body=said)
        number = number_of(request.path)
        if number is not None and number < self.pages:
            return Answer(body=page(number, self.pages, f"http://{request.headers.get('host', 'localhost')}"))
        if request.path == "/page/0":
            return moved("/")
        if request.path == "/robots.txt":
            return self._robots()
        if request.path.startswith("/private/"):
            return Answer(body=b"<title>Private</title><p>No crawler should be here.")
        return Answer(404, b"<title>Not found</title>")

    def _robots(self) -> Answer:
        if isinstance(self.robots, int):
            return Answer(self.robots, content_type="text/plain")
        return Answer(body=self.robots.encode(), content_type="text/plain")


def tagged(answer: Answer, request: Request) -> Answer:
    """Return the answer with its ETag, or 304 for a known one."""
    etag = f'"{zlib.crc32(answer.body):x}"'
    if request.headers.get("if-none-match") == etag:
        return Answer(304, headers=(("ETag", etag),))
    return replace(answer, headers=(*answer.headers, ("ETag", etag)))
