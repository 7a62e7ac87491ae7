"""The ceiling of the web server: every page is fetched once by the bare client library, and its body dropped."""

import asyncio
import time
from collections.abc import Iterator

import uvloop
import wreq

from bench.lap import Course


def measure(course: Course) -> float:
    """Return the pages per second that the server sends to a client without further work."""
    urls = [
        f"http://{address}:{course.served.port}{path}" for address, paths in course.site.pages.items() for path in paths
    ]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return len(urls) / runner.run(_seconds(urls, course.concurrency))


async def _seconds(urls: list[str], concurrency: int) -> float:
    client, waiting = wreq.Client(no_proxy=True), iter(urls)
    begun = time.perf_counter()
    await asyncio.gather(*(_fetch(client, waiting) for _ in range(concurrency)))
    return time.perf_counter() - begun


async def _fetch(client: wreq.Client, waiting: Iterator[str]) -> None:
    for url in waiting:
        async with client.get(url) as answer:
            await answer.bytes()
