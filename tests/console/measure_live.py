"""The processor time that open live pages cost the server.

`python -m tests.console.measure_live [seconds [tasks]]` runs it: the whole program on PostgreSQL with many rows,
first without a page, then with twenty (five of each live kind), each for so many seconds. The workers of the program
also look at the rows now and then, so the bar is for everything that the program does while the pages are open.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import httpx

from longline.settings import Settings
from tests.console.many_rows import fill
from tests.servers.postgres import running_postgres
from tests.surfaces.intervals.platform import open_door
from tests.surfaces.manifests.running import serving

IDENTITIES = """SELECT table_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'id' AND is_identity = 'YES'"""
EACH, BAR_PERCENT, MOST_AT_REST_PERCENT = 5, 10.0, 5.0
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """The processor time of a process and its children that still run."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS_A_SECOND + sum(cpu_seconds(int(one)) for one in children)


async def share(pid: int, seconds: float) -> float:
    """The share of one core that the server takes, in percent."""
    begun, at = cpu_seconds(pid), time.monotonic()
    await asyncio.sleep(seconds)
    return 100 * (cpu_seconds(pid) - begun) / (time.monotonic() - at)


async def measure(address: str, link: str, pid: int, seconds: float) -> bool:
    """Print the shares of a core without pages and with them; return whether the bar is kept."""
    limits = httpx.Limits(max_connections=None)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60, limits=limits))
        await client.get(link, follow_redirects=True)
        page = (await client.get("/console/runs")).text
        runs = page.partition('data-stream="')[2].partition('"')[0].replace("&amp;", "&")
        run = runs.partition("shown=")[2].partition("%2C")[0]
        paths = ("/console/stream", runs, f"/console/runs/{run}/stream", "/console/alerts/stream")
        await calm(pid)
        before = await share(pid, seconds)
        followed = []
        for path in paths * EACH:
            stream = await stack.enter_async_context(client.stream("GET", path))
            assert stream.status_code == 200, path
            followed.append(asyncio.create_task(_drain(stream)))
            stack.push_async_callback(_stop, followed[-1])
        await asyncio.sleep(6)
        after = await share(pid, seconds)
        assert not any(task.done() for task in followed), "every stream is open to the end"
    print(f"without pages {before:.1f} % of a core, with {EACH * len(paths)} live pages {after:.1f} %", end="")
    print(f" in all, load {os.getloadavg()[0]:.1f}", flush=True)
    return after < BAR_PERCENT


async def calm(pid: int) -> None:
    """Wait until the workers have found that the rows are no work of theirs; the figure before is then that of rest."""
    for _ in range(30):
        if await share(pid, 5) < MOST_AT_REST_PERCENT:
            return
    raise RuntimeError("the program does not come to rest")


async def _drain(stream: httpx.Response) -> None:
    async for _ in stream.aiter_raw():
        pass


async def _stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


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
            is_kept = asyncio.run(measure(address, found[0], program.pid, seconds))
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
