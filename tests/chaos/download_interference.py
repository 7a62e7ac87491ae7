"""The pace of a page crawl beside large downloads of the same worker.

`python -m tests.chaos.download_interference` crawls 300 pages of one host, alone and beside 20 downloads of 500 MB
from another one, and prints the 95th percentile of the time between two requests in the log of the pages' host.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

from bench.downloads import PLAN, SERVER
from longline.engine.frontier.admission import seed
from longline.engine.frontier.seeding import NO_RUN_ID
from longline.model.downloads.download import NewDownload
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness
from longline.model.runs.run import NewRun, RunKind
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.worker import fetch_worker

DELAY_MS = 20
HEAD_START_SECONDS = 2.0
PAGE = b"<html><title>A page</title><body><p>" + b"Some words. " * 500 + b"</body></html>"


@contextmanager
def pages_served() -> Iterator[tuple[int, list[float]]]:
    """Serve a host of pages, and yield its port and the times of its requests."""
    asked: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(time.monotonic())
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def files_served(size: int) -> Iterator[int]:
    """Serve a host of files, and yield its port."""
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(size)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield int(server.stdout.readline())
    finally:
        server.kill()
        server.communicate()


async def work(folder: Path, page_port: int, pages: int, file_port: int, files: int) -> None:
    """Crawl pages beside downloads, and end with the pages."""
    settings = Settings(
        data=folder,
        database=f"sqlite:///{folder / 'records.db'}",
        objects=str(folder / "objects"),
        egress_allow=("127.0.0.0/8",),
        log_level="error",
    )
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with registered_worker(platform, frozenset({"fetch"})) as owner:
            stop = asyncio.Event()
            working = asyncio.create_task(fetch_worker(platform, owner).run(stop))
            if files:
                await _begin_files(platform, file_port, files)
                await asyncio.sleep(HEAD_START_SECONDS)
            run_id = await _begin_pages(platform, page_port, pages)
            while True:
                found = await platform.records.runs.get(run_id)
                if found is not None and found.ended_at is not None:
                    break
                await asyncio.sleep(0.1)
            stop.set()
            await working


async def _begin_files(platform: Platform, port: int, files: int) -> None:
    orders = [
        NewDownload(resource_id=str(n), url=f"http://127.0.0.1:{port}/{n}", key=f"resources/{n}") for n in range(files)
    ]
    run = NewRun(new_id(), RunKind.MANIFEST, PLAN.text())
    await platform.lifecycle.downloads.begin(run, orders, PLAN, "interference")


async def _begin_pages(platform: Platform, port: int, pages: int) -> int:
    urls = [f"http://127.0.0.2:{port}/{n}" for n in range(pages)]
    plan = CrawlPlan(
        tuple(urls), politeness=Politeness(robots=False, delay_ms=DELAY_MS), fetch=FetchOptions(conditional=False)
    )
    run = NewRun(new_id(), RunKind.CRAWL, plan.text(), urls[0])
    return await platform.lifecycle.runs.begin(run, [seed(url, NO_RUN_ID, plan) for url in urls], "interference")


def p95_ms(folder: Path, pages: int, files: int, size: int) -> float:
    """Return the 95th percentile of the time between two requests for pages."""
    with pages_served() as (page_port, asked), files_served(size) as file_port:
        given = [str(word) for word in (folder, page_port, pages, file_port, files)]
        subprocess.run([sys.executable, "-m", "tests.chaos.download_interference", "--work", *given], check=True)
    assert len(asked) == pages, f"{len(asked)} of {pages} pages"
    gaps = sorted(later - sooner for sooner, later in pairwise(asked))
    return gaps[int(len(gaps) * 0.95)] * 1000


def main() -> None:
    """Measure both, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.download_interference", description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--size", type=int, default=500 * 1024**2, help="bytes of each file")
    parser.add_argument("--folder", type=Path, help="folder for the files")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        asyncio.run(work(Path(asked.work[0]), *map(int, asked.work[1:])))
        return
    for files in (0, asked.files, 0, asked.files):
        with tempfile.TemporaryDirectory(dir=asked.folder) as place:
            found = p95_ms(Path(place), asked.pages, files, asked.size)
        print(f"{asked.pages} pages beside {files} downloads: p95 {found:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
