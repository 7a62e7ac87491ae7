"""The effect of parsing articles on concurrent fetches, in the loop or in processes; `python -m bench parsing`.

Pages are fetched at a steady rate, far below the limit of the machine, and each is then parsed. The time of a fetch
from the request to the last byte must not depend on it.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice

import uvloop
import wreq
from rich.console import Console
from rich.table import Table

from bench.site import Site, prepared
from bench.web import served
from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.process_pool import ProcessPool
from longline.plugins import Page
from longline.plugins.registry import ParserSources

SHELF = ParserSources(("longline.parsers.page", "longline.parsers.article.article"))
CHECK_INTERVAL_SECONDS = 0.002

Parse = Callable[[Page], Awaitable[Parsed]]


@dataclass
class Times:
    """Seconds of each fetch, and the delay of the event loop at each check."""

    fetches: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    parsed: int = 0
    failed: int = 0

    def row(self) -> list[str]:
        """Return the figures of the table, in milliseconds."""
        fetch, late = sorted(self.fetches), sorted(self.late)
        figures = (share(fetch, 0.5), share(fetch, 0.99), share(late, 0.99), share(late, 1.0))
        return [*(f"{figure * 1000:.1f}" for figure in figures), str(self.parsed), str(self.failed)]


def share(ordered: Sequence[float], part: float) -> float:
    """Return a quantile of the figures."""
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0.0


def main(arguments: Sequence[str]) -> None:
    """Measure every way of parsing, a few rounds, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench parsing", description=__doc__)
    parser.add_argument("--pages", type=int, default=800, help="size of the site")
    parser.add_argument("--rate", type=float, default=30, help="pages a second")
    parser.add_argument("--seconds", type=float, default=10, help="how long each way is measured")
    parser.add_argument("--processes", type=int, default=1, help="processes that parse")
    asked = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 100)
    with console.status("preparing the site") as status:
        site = prepared(asked.pages, status.update)
        with served(site) as server, _ways(asked.processes) as ways:
            measured = {}
            for name, parse in ways.items():
                status.update(name)
                measured[name] = measure(_urls(site, server.port), parse, asked.rate, asked.seconds)
    console.print(table(measured, f"{asked.rate:g} pages a second for {asked.seconds:g} s"))


def table(measured: dict[str, Times], title: str) -> Table:
    """Return the ways side by side."""
    made = Table(title=title, title_justify="left")
    made.add_column("articles are parsed")
    for heading in ("fetch p50 ms", "fetch p99 ms", "loop late p99 ms", "at most ms", "parsed", "failed"):
        made.add_column(heading, justify="right")
    for name, times in measured.items():
        made.add_row(name, *times.row())
    return made


@contextmanager
def _ways(processes: int) -> Iterator[dict[str, Parse | None]]:
    here = PageParser(SHELF.open())
    aside = ProcessPool(SHELF, processes, 30.0)
    try:
        yield {
            "not at all": None,
            "in the loop": here.parse,
            "in a thread": lambda page: asyncio.to_thread(asyncio.run, here.parse(page)),
            "in processes": PageParser(SHELF.open(), aside).parse,
        }
    finally:
        aside.close()


def _urls(site: Site, port: int) -> list[str]:
    return [f"http://{address}:{port}{path}" for address, paths in site.pages.items() for path in paths]


def measure(urls: list[str], parse: Parse | None, rate: float, seconds: float) -> Times:
    """Fetch at that rate, parse each page, and watch."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(urls, parse, rate, seconds))


async def _measure(urls: list[str], parse: Parse | None, rate: float, seconds: float) -> Times:
    client, times = wreq.Client(no_proxy=True), Times()
    for url in urls[:4]:  # processes start, connections stand, caches fill
        await _page(client, url, parse, Times())
    watching = asyncio.create_task(_watch(times))
    begun, tasks = time.perf_counter(), []
    for number, url in enumerate(islice(cycle(urls), int(rate * seconds))):
        await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(_page(client, url, parse, times)))
    await asyncio.gather(*tasks)
    watching.cancel()
    return times


async def _page(client: wreq.Client, url: str, parse: Parse | None, times: Times) -> None:
    begun = time.perf_counter()
    async with client.get(url) as answer:
        body = bytes(await answer.bytes())
    times.fetches.append(time.perf_counter() - begun)
    if parse is not None:
        page = Page(url, body, content_type="text/html", config={"parser": "article"})
        times.failed += (await parse(page)).error is not None
        times.parsed += 1


async def _watch(times: Times) -> None:
    while True:
        asked = time.perf_counter()
        await asyncio.sleep(CHECK_INTERVAL_SECONDS)
        times.late.append(max(0.0, time.perf_counter() - asked - CHECK_INTERVAL_SECONDS))
