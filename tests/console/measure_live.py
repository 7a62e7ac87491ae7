"""The processor time that open live pages cost the server.

`python -m tests.console.measure_live [seconds [tasks]]` runs it: the whole program on PostgreSQL with many rows,
first without a page, then with one of each live kind, then with twenty (five of each), each for so many seconds. The
workers of the program also read the rows at intervals, so the bar is for all work of the program while the pages are
open. Each reading of a page is a transaction: their number does not grow with the pages.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import asyncpg
import httpx

from longline.settings import Settings
from tests.console.many_rows import fill
from tests.servers.postgres import PostgresServer, running_postgres
from tests.surfaces.intervals.platform import open_door
from tests.surfaces.manifests.running import serving

IDENTITIES = """SELECT table_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'id' AND is_identity = 'YES'"""
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
EACH, BAR_PERCENT, MOST_AT_REST_PERCENT = 5, 10.0, 5.0
MOST_GROWTH = 1.5
"""The transactions with all pages, as a multiple of those with one page of each kind."""
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its children that still run."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS_A_SECOND + sum(cpu_seconds(int(one)) for one in children)


class Costs(NamedTuple):
    """The cost of some seconds: shares of a core in percent, and transactions of the database in a second."""

    program: float
    database: float
    transactions: float

    def __str__(self) -> str:
        shares = f"{self.program:.1f} % of a core, PostgreSQL {self.database:.1f} %"
        return f"{shares}, {self.transactions:.1f} transactions/s"


class Meter:
    """The costs of a program and of its server of PostgreSQL, which has no other client."""

    def __init__(self, program: int, server: int, database: asyncpg.Connection) -> None:
        self._program, self._server, self._database = program, server, database

    async def costs(self, seconds: float) -> Costs:
        """Return the costs of the next seconds."""
        begun, at = await self._now(), time.monotonic()
        await asyncio.sleep(seconds)
        ended, lasted = await self._now(), time.monotonic() - at
        program, database, transactions = (
            (after - before) / lasted for before, after in zip(begun, ended, strict=True)
        )
        return Costs(100 * program, 100 * database, transactions)

    async def _now(self) -> tuple[float, float, float]:
        done = await self._database.fetchval(TRANSACTIONS)
        return cpu_seconds(self._program), cpu_seconds(self._server), done


async def measure(address: str, link: str, meter: Meter, seconds: float) -> bool:
    """Print the costs without pages, with a page of each kind, and with all; return true if the bars are kept."""
    limits = httpx.Limits(max_connections=None)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60, limits=limits))
        await client.get(link, follow_redirects=True)
        paths = await stream_paths(client)
        await calm(meter)
        print(f"no page: {await meter.costs(seconds)}", flush=True)
        found, opened = [], 0
        for each in (1, EACH):
            while opened < each * len(paths):
                await _open(stack, client, paths[opened % len(paths)])
                opened += 1
            await asyncio.sleep(6)
            found.append(await meter.costs(seconds))
            print(f"{opened} live pages: {found[-1]}, load {os.getloadavg()[0]:.1f}", flush=True)
    one, all_pages = found
    is_flat = all_pages.transactions < MOST_GROWTH * one.transactions
    return all_pages.program < BAR_PERCENT and is_flat


async def stream_paths(client: httpx.AsyncClient) -> tuple[str, ...]:
    """Return a stream of each live kind of page."""
    page = (await client.get("/console/runs")).text
    runs = page.partition('data-stream="')[2].partition('"')[0].replace("&amp;", "&")
    run = runs.partition("shown=")[2].partition("%2C")[0]
    return ("/console/stream", runs, f"/console/runs/{run}/stream", "/console/alerts/stream")


async def _open(stack: AsyncExitStack, client: httpx.AsyncClient, path: str) -> None:
    """Follow a stream until the stack closes; a stream that ends before is an error."""
    stream = await stack.enter_async_context(client.stream("GET", path))
    assert stream.status_code == 200, path
    followed = asyncio.create_task(_drain(stream))
    stack.push_async_callback(_stop, followed)


async def calm(meter: Meter) -> None:
    """Wait until the workers have found that the rows are no work of theirs."""
    for _ in range(30):
        if (await meter.costs(5)).program < MOST_AT_REST_PERCENT:
            return
    raise RuntimeError("the program does not come to rest")


async def _drain(stream: httpx.Response) -> None:
    async for _ in stream.aiter_raw():
        pass


async def _stop(followed: "asyncio.Task[None]") -> None:
    assert not followed.done(), "every stream is open to the end"
    followed.cancel()
    await asyncio.gather(followed, return_exceptions=True)


async def fill_tables(url: str, folder: Path, tasks: int) -> None:
    """Make the tables and fill them, before the program starts."""
    async with open_door(Settings(data=folder, database=url, port=0)) as door:
        await fill(url, door.platform.clock.now(), tasks, tasks // 10, tasks // 100)
    # The rows have ids of their own: the program must go on behind them.
    connection = await asyncpg.connect(url)
    for table in await connection.fetch(IDENTITIES):
        name = table["table_name"]
        await connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), (SELECT MAX(id) + 1 FROM {name}))"
        )
    await connection.close()


async def measure_program(
    entry: tuple[str, str], program: int, server: PostgresServer, url: str, seconds: float
) -> bool:
    """Measure a program that runs on a database."""
    assert server.folder is not None, "the server was started here"
    postmaster = int((server.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    connection = await asyncpg.connect(url)
    try:
        return await measure(*entry, Meter(program, postmaster, connection), seconds)
    finally:
        await connection.close()


def main(seconds: int = 30, tasks: int = 20_000) -> int:
    """Measure in servers of their own."""
    with running_postgres() as server, server.fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill_tables(url, Path(folder) / "before", tasks))
        environ = {**os.environ, "LONGLINE_DATA": folder, "LONGLINE_PORT": "0", "LONGLINE_DATABASE": url}
        with serving(["up"], environ, Path(folder) / "log") as (address, program):
            assert program.stdout is not None
            link = ""
            while "/console/enter" not in link:
                link = program.stdout.readline().decode()
            found = re.search(r"http\S+/console/enter\S+", link)
            assert found
            is_kept = asyncio.run(measure_program((address, found[0]), program.pid, server, url, seconds))
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
