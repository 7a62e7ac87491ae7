"""The ceiling: Longline's HTTP client and link extraction in a plain loop, without storage, robots.txt or retries."""

import asyncio

from bench.crawlers.order import Order, given, lap
from longline.cli.event_loop import run
from longline.drivers.http.client import WreqHttp
from longline.model.fetch.content_encoding import ACCEPT_ENCODING, decode_body
from longline.model.urls.url import parse
from longline.parsers.page import extract
from longline.plugins import Page
from longline.ports.http import Request

HEADERS = (("user-agent", "bench"), ("accept", "*/*"), ("accept-encoding", ACCEPT_ENCODING))
MAX_BYTES = 10 * 1024 * 1024


class Bare:
    """A crawl that stores URLs in a set, and no pages."""

    def __init__(self, order: Order) -> None:
        self._hosts = frozenset(order.hosts)
        self._seen = set(order.seeds)
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        for seed in order.seeds:
            self._waiting.put_nowait(seed)

    async def crawl(self, concurrency: int) -> None:
        """Fetch until no URL waits and none is under way."""
        http = WreqHttp()
        loops = [asyncio.create_task(self._loop(http)) for _ in range(concurrency)]
        ended = asyncio.create_task(self._waiting.join())
        await asyncio.wait([ended, *loops], return_when=asyncio.FIRST_COMPLETED)
        for task in (ended, *loops):
            task.cancel()
        gone = await asyncio.gather(*loops, return_exceptions=True)
        await http.close()
        if failed := [error for error in gone if isinstance(error, Exception)]:
            raise failed[0]

    async def _loop(self, http: WreqHttp) -> None:
        while True:
            url = await self._waiting.get()
            answer = await http.fetch(Request(url, HEADERS))
            body = decode_body(answer.headers, answer.body, MAX_BYTES)
            self._follow(Page(url, body, status=answer.status, headers=answer.headers))
            self._waiting.task_done()

    def _follow(self, page: Page) -> None:
        for link in extract(page).links:
            if link not in self._seen and parse(link).host in self._hosts:
                self._seen.add(link)
                self._waiting.put_nowait(link)


def main() -> None:
    """Crawl by the order."""
    order = given()
    with lap():
        run(Bare(order).crawl(order.concurrency))


if __name__ == "__main__":
    main()
