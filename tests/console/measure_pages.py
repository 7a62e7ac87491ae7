"""The time that the server takes for every page with a million tasks.

`python -m tests.console.measure_pages [times [tasks]]` runs it.

Prints for each page the statements that it sends, the median and the 95th percentile of its time in milliseconds,
and the slowest statement. A page over the bar is marked.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from longline.drivers.records.postgres import PostgresTransaction
from longline.settings import Settings
from tests.console.many_rows import fill, page_paths
from tests.console.visiting import log_in
from tests.servers.postgres import running_postgres
from tests.surfaces.intervals.platform import open_door

BAR_MS = 150

Sent = list[tuple[str, float]]


@contextmanager
def recorded_statements() -> Iterator[Sent]:
    """Yield the names of the statements that are sent to PostgreSQL, with their times in milliseconds."""
    sent: Sent = []
    send = PostgresTransaction.all

    async def recording(self: PostgresTransaction, name: str, /, **params: Any) -> Any:
        begun = time.perf_counter()
        found = await send(self, name, **params)
        sent.append((name, 1000 * (time.perf_counter() - begun)))
        return found

    PostgresTransaction.all = recording  # type: ignore[method-assign]  # put back below
    try:
        yield sent
    finally:
        PostgresTransaction.all = send  # type: ignore[method-assign]


async def measure(client: httpx.AsyncClient, path: str, times: int, sent: Sent) -> bool:
    """Print a line about a page; return true if it keeps the bar."""
    taken, statements, slowest = [], 0, ("", 0.0)
    for _ in range(times):
        sent.clear()
        begun = time.perf_counter()
        answer = await client.get(path)
        taken.append(1000 * (time.perf_counter() - begun))
        statements, slowest = len(sent), max([*sent, slowest], key=lambda one: one[1])
    taken.sort()
    p95 = taken[min(times - 1, int(0.95 * times))]
    is_kept = p95 <= BAR_MS and answer.status_code == 200
    print(
        f"{'' if is_kept else '!':1} {path:45} {answer.status_code} {statements:3} statements"
        f" {taken[times // 2]:7.0f} ms median {p95:7.0f} ms p95  {slowest[0]} {slowest[1]:.0f} ms",
        flush=True,
    )
    return is_kept


async def measure_all(url: str, times: int, tasks: int) -> int:
    """Fill a database and measure every page; return the number of pages that miss the bar."""
    with tempfile.TemporaryDirectory() as folder, recorded_statements() as sent:
        async with open_door(Settings(data=Path(folder), database=url, port=0)) as door:
            await fill(url, door.platform.clock.now(), tasks, tasks // 10, tasks // 100)
            async with log_in(door) as client:
                kept = [await measure(client, path, times, sent) for path in page_paths(tasks // 10)]
    return kept.count(False)


def main(times: int = 20, tasks: int = 1_000_000) -> int:
    """Measure in a server of its own."""
    with running_postgres() as server, server.fresh_database() as url:
        missed = asyncio.run(measure_all(url, times, tasks))
    print(f"{missed} pages miss {BAR_MS} ms")
    return missed


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
