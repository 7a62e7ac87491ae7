"""Downloads of many small and of some large files into a folder, by Longline and by the downloaders of the field.

Every downloader gets the same list of URLs of one local server and as many connections. Longline computes digests and
writes rows besides; it is shown with its files synced to the disk, and without. No other one syncs its files. CPU
seconds are those of the downloader with its processes, without the server.
"""

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from rich.console import Console
from rich.table import Table

from longline.cli import event_loop
from longline.drivers.blobs.folder import FolderBlobs
from longline.model.downloads.download import NewDownload
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Proxying
from longline.model.runs.run import NewRun, RunKind
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.worker import fetch_worker

CONNECTIONS = 32
FILES_PER_RUN = 1000
READ_BYTES = 1 << 20

PLAN = CrawlPlan(
    (),
    single=True,
    downloads=DownloadPlan(kind="bench"),
    politeness=Politeness(robots=False, delay_ms=0, concurrency=CONNECTIONS),
    fetch=FetchOptions(cookies=False, conditional=False, proxying=Proxying(use=False)),
)

SERVER = """
import asyncio, os, sys
import uvloop
size, piece = int(sys.argv[1]), os.urandom(min(int(sys.argv[1]), 1 << 20))
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: image/png\\r\\nContent-Length: %d\\r\\n\\r\\n" % size
class Site(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.left, self.paused, self.seen = transport, 0, False, b""
    def data_received(self, data):
        self.seen += data
        while b"\\r\\n\\r\\n" in self.seen:
            self.seen = self.seen.partition(b"\\r\\n\\r\\n")[2]
            if size <= len(piece):
                self.transport.write(head + piece)
            else:
                self.transport.write(head)
                self.left += size
                self.send()
    def pause_writing(self):
        self.paused = True
    def resume_writing(self):
        self.paused = False
        self.send()
    def send(self):
        while self.left and not self.paused:
            part = piece[:self.left]
            self.left -= len(part)
            self.transport.write(part)
async def main():
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
uvloop.run(main())
"""

Download = Callable[[list[str], Path], None]


class Usage(NamedTuple):
    """The time of one downloader, and its CPU time."""

    seconds: float
    cpu_seconds: float


def main(arguments: list[str]) -> None:
    """Measure every downloader on both sets of files, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench downloads", description=__doc__)
    parser.add_argument("--small", type=int, default=20_000, help="files of 20 KB")
    parser.add_argument("--large", type=int, default=50, help="files of 100 MB")
    parser.add_argument("--folder", type=Path, help="folder for the files, on the disk to be measured")
    parser.add_argument("--repeat", type=int, default=1, help="rounds, of which the fastest counts")
    asked = parser.parse_args(arguments)
    console = Console(width=110)
    for count, size in ((asked.small, 20 * 1024), (asked.large, 100 * 1024**2)):
        if count:
            console.print(measured(count, size, asked.folder, asked.repeat))


def measured(count: int, size: int, folder: Path | None, rounds: int = 1) -> Table:
    """Return the table of one set of files."""
    table = Table(title=f"{count} files of {size} bytes, {CONNECTIONS} connections", title_justify="left")
    for name in ("downloader", "seconds", "files/s", "MB/s", "CPU seconds"):
        table.add_column(name, justify="left" if name == "downloader" else "right")
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(size)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        urls = [f"http://127.0.0.1:{port}/f{number}" for number in range(count)]
        for name, used in raced(urls, size, folder, rounds).items():
            rate = count / used.seconds
            figures = (f"{used.seconds:.2f}", f"{rate:.0f}", f"{rate * size / 1e6:.0f}", f"{used.cpu_seconds:.2f}")
            table.add_row(name, *figures)
    finally:
        server.kill()
        server.communicate()
    return table


def raced(urls: list[str], size: int, folder: Path | None, rounds: int) -> dict[str, Usage]:
    """Return the best round of each downloader.

    Small files are removed only after all have been measured: ext4 without a journal searches long for a free inode
    where many files were deleted a moment ago.
    """
    best: dict[str, Usage] = {}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for number in range(rounds):
            for name, download in contestants():
                own = Path(place) / f"{number} {name}"
                own.mkdir()
                used = timed(download, urls, own, size)
                best[name] = min(best.get(name, used), used)
                if size > READ_BYTES:
                    shutil.rmtree(own)
    return best


def timed(download: Download, urls: list[str], place: Path, size: int) -> Usage:
    """Return the time of one downloader; raise unless every file is there, whole."""
    os.sync()
    started, cpu = time.monotonic(), cpu_seconds()
    download(urls, place)
    used = Usage(time.monotonic() - started, cpu_seconds() - cpu)
    found = [path for path in place.rglob("f*") if path.is_file() and path.stat().st_size == size]
    if len(found) != len(urls):
        raise RuntimeError(f"{len(found)} of {len(urls)} files are there")
    return used


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its ended children."""
    found = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)


def contestants() -> list[tuple[str, Download]]:
    """Return the downloaders that are installed, Longline's first."""
    found: list[tuple[str, Download]] = [
        ("longline, durable", ours(durable=True)),
        ("longline", ours(durable=False)),
        ("urllib in threads", urllib_threads),
    ]
    for name, download in (("aria2c", aria2c), ("curl --parallel", curl), ("wget", wget)):
        if shutil.which(name.partition(" ")[0]):
            found.append((name, download))
    return found


def urllib_threads(urls: list[str], place: Path) -> None:
    """Download as img2dataset does: `urllib` in a pool of threads, each file whole in memory."""

    def one(url: str) -> None:
        with urlopen(url) as answer:
            (place / url.rpartition("/")[2]).write_bytes(answer.read())

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(one, urls))


def aria2c(urls: list[str], place: Path) -> None:
    """Download by aria2c."""
    listed = place / "urls.txt"
    listed.write_text("\n".join(urls))
    options = ("-q", "--file-allocation=none", "-j", str(CONNECTIONS), "-x1", "-d", str(place), "-i", str(listed))
    subprocess.run(["aria2c", *options], check=True)


def curl(urls: list[str], place: Path) -> None:
    """Download by curl, in parallel."""
    listed = place / "urls.txt"
    listed.write_text("".join(f'url = "{url}"\noutput = "{place}/{url.rpartition("/")[2]}"\n' for url in urls))
    options = ("-s", "--parallel", "--parallel-max", str(CONNECTIONS), "-K", str(listed))
    subprocess.run(["curl", *options], check=True)


def wget(urls: list[str], place: Path) -> None:
    """Download by wget, which has one connection."""
    listed = place / "urls.txt"
    listed.write_text("\n".join(urls))
    subprocess.run(["wget", "-q", "-P", str(place), "-i", str(listed)], check=True)


def ours(*, durable: bool) -> Download:
    """Return Longline's downloader, with files that are synced to the disk or not."""
    return lambda urls, place: event_loop.run(_work(urls, place, durable=durable))


async def _work(urls: list[str], place: Path, *, durable: bool) -> None:
    folder = place / "data"
    settings = Settings(
        data=folder,
        database=f"sqlite:///{folder / 'records.db'}",
        objects=str(place / "objects"),
        egress_allow=("127.0.0.0/8",),
    )
    async with open_platform(settings) as opened:
        await migrate_tables(opened, may_migrate=True)
        platform = replace(opened, blobs=FolderBlobs(place / "objects", durable=durable))
        runs = [await _begin(platform, urls[at : at + FILES_PER_RUN]) for at in range(0, len(urls), FILES_PER_RUN)]
        async with registered_worker(platform, frozenset({"fetch"})) as owner:
            stop = asyncio.Event()
            working = asyncio.create_task(fetch_worker(platform, owner, parse=False).run(stop))
            for run_id in runs:
                await _ended(platform, run_id)
            stop.set()
            await working


async def _ended(platform: Platform, run_id: int) -> None:
    while True:
        run = await platform.records.runs.get(run_id)
        if run is not None and run.ended_at is not None:
            return
        await asyncio.sleep(0.1)


async def _begin(platform: Platform, urls: list[str]) -> int:
    uid = new_id()
    files = [NewDownload(resource_id=url, url=url, key=f"files/{uid}/{url.rpartition('/')[2]}") for url in urls]
    run = NewRun(uid, RunKind.MANIFEST, PLAN.text())
    return await platform.lifecycle.downloads.begin(run, files, PLAN, "bench")
