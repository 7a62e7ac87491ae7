"""The memory of a worker that downloads large files at once.

`python -m tests.chaos.download_memory` downloads 20 files of 500 MB into a folder and into S3, and prints the peak of
the worker's resident memory, sampled every 100 ms.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from bench.downloads import PLAN, SERVER
from longline.model.downloads.download import NewDownload
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform, registered_worker
from longline.wiring.worker import fetch_worker
from tests.drivers.blobs.address import s3_url
from tests.servers.s3 import running_s3

MAX_MB = 300
SAMPLE_SECONDS = 0.1


class Measured(NamedTuple):
    """The peak of the resident memory, and the seconds that the downloads took."""

    peak_mb: int
    seconds: float


async def work(folder: Path, objects: str, port: int, files: int) -> None:
    """Download files, one request each, and end."""
    settings = Settings(
        data=folder,
        database=f"sqlite:///{folder / 'records.db'}",
        objects=objects,
        egress_allow=("127.0.0.0/8",),
        log_level="error",
    )
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        orders = [
            NewDownload(resource_id=str(n), url=f"http://127.0.0.1:{port}/{n}", key=f"resources/{n}")
            for n in range(files)
        ]
        run = NewRun(new_id(), RunKind.MANIFEST, PLAN.text())
        run_id = await platform.lifecycle.downloads.begin(run, orders, PLAN, "memory")
        async with registered_worker(platform, frozenset({"fetch"})) as owner:
            stop = asyncio.Event()
            working = asyncio.create_task(fetch_worker(platform, owner, parse=False).run(stop))
            while True:
                found = await platform.records.runs.get(run_id)
                if found is not None and found.ended_at is not None:
                    break
                await asyncio.sleep(0.1)
            stop.set()
            await working
        if found.completed != files:
            raise SystemExit(f"{found.completed} of {files} files were stored: {found.error}")


def measure(objects: str, files: int, size: int, folder: Path) -> Measured:
    """Run a worker in a process of its own, and sample its memory."""
    with ExitStack() as stack:
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(size)], stdout=subprocess.PIPE, text=True)
        stack.callback(server.wait)
        stack.callback(server.kill)
        assert server.stdout is not None
        stack.callback(server.stdout.close)
        port = server.stdout.readline().strip()
        command = [
            sys.executable,
            "-m",
            "tests.chaos.download_memory",
            "--work",
            str(folder),
            objects,
            port,
            str(files),
        ]
        started, peak = time.monotonic(), 0
        worker = subprocess.Popen(command)
        stack.callback(worker.kill)
        while worker.poll() is None:
            peak = max(peak, _resident_mb(worker.pid))
            time.sleep(SAMPLE_SECONDS)
        if worker.returncode:
            raise RuntimeError("the worker failed")
        return Measured(peak, time.monotonic() - started)


def _resident_mb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")), 0)


def main() -> None:
    """Measure both kinds of stores, and print the peaks."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.download_memory", description=__doc__)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--size", type=int, default=500 * 1024**2, help="bytes of each file")
    parser.add_argument("--folder", type=Path, help="folder for the files")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        folder, objects, port, files = asked.work
        asyncio.run(work(Path(folder), objects, int(port), int(files)))
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as place:
        into = measure(f"{place}/objects", asked.files, asked.size, Path(place))
        print(f"folder: peak {into.peak_mb} MB in {into.seconds:.1f} s; at most {MAX_MB} MB", flush=True)
    with tempfile.TemporaryDirectory(dir=asked.folder) as place, running_s3() as server:
        into = measure(s3_url(server.create_bucket()), asked.files, asked.size, Path(place))
        print(f"S3: peak {into.peak_mb} MB in {into.seconds:.1f} s; at most {MAX_MB} MB", flush=True)


if __name__ == "__main__":
    main()
