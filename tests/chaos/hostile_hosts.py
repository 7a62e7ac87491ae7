"""Hostile hosts beside good ones: the pages that the good ones still get, and the time of `/health` meanwhile.

`python -m tests.chaos.hostile_hosts` runs the large form and prints its figures.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson

from tests.chaos.hostile_origin import GOOD
from tests.servers import program
from tests.servers.process import free_ports


@dataclass(frozen=True)
class Size:
    """The number of hosts of each kind, the number of counts of good pages, and the seconds of a count."""

    good: int
    hostile: int
    counts: int
    seconds: float


LARGE = Size(good=10, hostile=51, counts=4, seconds=15)
SMALL = Size(good=4, hostile=13, counts=1, seconds=6)


@dataclass
class Figures:
    """The measured figures; pages are those of good hosts in the seconds of one count.

    A lag of the loop is a block by the program, plus the time in which the system ran other processes.
    """

    pages_alone: list[int] = field(default_factory=list)
    pages_beside_hostile: list[int] = field(default_factory=list)
    hostile_pages: int = 0
    health_asked: int = 0
    health_p50_ms: float = 0.0
    health_p99_ms: float = 0.0
    health_max_ms: float = 0.0
    health_failed: int = 0
    longest_block_ms: float = 0.0
    blocks_over_50_ms: int = 0
    longest_lag_ms: float = 0.0
    lags_over_50_ms: int = 0
    run_delay_seconds: float = 0.0
    loop_looks: int = 0
    stopped_with: int | None = None

    @property
    def share(self) -> float:
        """Return the share of pages that good hosts get beside hostile ones, of those that they get alone."""
        alone = sum(self.pages_alone) / len(self.pages_alone)
        return sum(self.pages_beside_hostile) / len(self.pages_beside_hostile) / alone


@contextmanager
def running_origin() -> Iterator[int]:
    """Run the hosts as a process, and yield its port on every loopback address."""
    command = [sys.executable, "-m", "tests.chaos.hostile_origin"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def running_platform(folder: Path, figures: Figures) -> AsyncIterator[httpx.AsyncClient]:
    """Run the platform on SQLite, and yield a client of it; the platform has to end at its signal."""
    (port,) = free_ports(1)
    environment = os.environ | {
        "LONGLINE_DATA": str(folder / "data"),
        "LONGLINE_PORT": str(port),
        "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
        "LONGLINE_POLL": "200ms",
        "LONGLINE_LOG_LEVEL": "error",
    }
    process = program.Program(["up"], environment, stdout=subprocess.DEVNULL)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            await _answers(client)
            told = await asyncio.to_thread(program.run, "token", "--role", "admin", env=environment)
            client.headers["Authorization"] = f"Bearer {told.stdout.split()[-1]}"
            yield client
        process.send_signal(signal.SIGTERM)
        figures.stopped_with = await asyncio.to_thread(process.wait, 60)
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


async def _answers(client: httpx.AsyncClient) -> None:
    for _ in range(300):
        try:
            await client.get("/health")
            return
        except httpx.TransportError:
            await asyncio.sleep(0.2)
    raise TimeoutError("the platform does not answer")


async def crawl(client: httpx.AsyncClient, address: str, port: int) -> None:
    """Let one host be crawled by a job of its own."""
    url = f"http://{address}:{port}/"
    source = {"name": address, "url": url, "rate_limit": "500ms", "max_depth": -1}
    made = (await client.post("/api/v1/sources", json=source)).raise_for_status().json()
    job = {"source_id": made["id"], "url": url}
    (await client.post("/api/v1/jobs", json=job)).raise_for_status()


async def served(port: int) -> dict[str, int]:
    """Return the number of pages that each address has served."""
    async with httpx.AsyncClient() as client:
        counts: dict[str, int] = (await client.get(f"http://127.0.0.1:{port}/__counts", timeout=30)).json()
        return counts


async def until_all_have_served(port: int, addresses: set[str]) -> None:
    """Wait for the first page of each of these hosts: on a busy machine jobs begin late."""
    for _ in range(600):
        if addresses <= (await served(port)).keys():
            return
        await asyncio.sleep(0.1)
    raise TimeoutError("good hosts are not crawled")


async def good_pages(port: int, size: Size) -> list[int]:
    """Return the pages of good hosts in each of the next counts."""
    counts = []
    for _ in range(size.counts):
        before = await served(port)
        await asyncio.sleep(size.seconds)
        after = await served(port)
        counts.append(sum(n - before.get(a, 0) for a, n in after.items() if a.startswith(GOOD)))
    return counts


async def ask_health(client: httpx.AsyncClient, taken_ms: list[float], figures: Figures) -> None:
    """Send `/health` ten times a second until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        begun = loop.time()
        try:
            answer = await client.get("/health", timeout=30)
            figures.health_failed += answer.status_code != 200
        except httpx.TransportError:
            figures.health_failed += 1
        taken_ms.append((loop.time() - begun) * 1000)
        await asyncio.sleep(0.1)


async def storm(size: Size) -> Figures:
    """Crawl the good hosts alone, then beside the hostile ones."""
    figures, taken_ms = Figures(), list[float]()
    with tempfile.TemporaryDirectory() as folder, running_origin() as port:
        async with running_platform(Path(folder), figures) as client:
            good = {f"{GOOD}{number + 1}" for number in range(size.good)}
            for address in sorted(good):
                await crawl(client, address, port)
            await until_all_have_served(port, good)
            figures.pages_alone = await good_pages(port, size)
            for number in range(size.hostile):
                await crawl(client, f"127.0.1.{number + 1}", port)
            asking = asyncio.create_task(ask_health(client, taken_ms, figures))
            await asyncio.sleep(size.seconds / 2)
            figures.pages_beside_hostile = await good_pages(port, size)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            figures.hostile_pages = sum(n for a, n in (await served(port)).items() if not a.startswith(GOOD))
            read_metrics((await client.get("/metrics")).text, figures)
    _sum_up(taken_ms, figures)
    return figures


def read_metrics(text: str, figures: Figures) -> None:
    """Read the delays of the loop from the platform's metrics."""
    told: dict[str, Any] = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("longline_loop"))
    figures.longest_block_ms = float(told["longline_loop_longest_block_seconds"]) * 1000
    figures.longest_lag_ms = float(told["longline_loop_longest_lag_seconds"]) * 1000
    figures.run_delay_seconds = float(told["longline_loop_run_delay_seconds_total"])
    looks = figures.loop_looks = int(float(told["longline_loop_lag_seconds_count"]))
    figures.blocks_over_50_ms = looks - int(float(told['longline_loop_block_seconds_bucket{le="0.05"}']))
    figures.lags_over_50_ms = looks - int(float(told['longline_loop_lag_seconds_bucket{le="0.05"}']))


def _sum_up(taken_ms: list[float], figures: Figures) -> None:
    ordered = sorted(taken_ms)
    figures.health_asked = len(ordered)
    figures.health_p50_ms = round(ordered[len(ordered) // 2], 1)
    figures.health_p99_ms = round(ordered[len(ordered) * 99 // 100], 1)
    figures.health_max_ms = round(ordered[-1], 1)


def main() -> None:
    """Run the storm and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    figures = asyncio.run(storm(SMALL if parser.parse_args().small else LARGE))
    print(orjson.dumps(asdict(figures) | {"share": round(figures.share, 2)}, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    main()
