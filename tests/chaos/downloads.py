"""A storm of downloads: a misbehaving origin, and workers that are killed and stopped all the while.

`python -m tests.chaos.downloads` downloads 10 runs of 1,000 files. Afterwards every file is stored or dead, every
object has the digest of its row and of the origin, and the reasons of the dead letters are those that the origin gave.
"""

import argparse
import asyncio
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.frontier.claims import WorkerSettings
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.downloads.download import DownloadRow, NewDownload
from tests.drivers.http.wire import Peer, Server, serving
from tests.engine.downloads.test_downloader import file
from tests.engine.downloads.workshop import Workshop, open_workshop

LEASE_SECONDS = 3.0
WORKERS = 2
SHARES = (("error", 0.05), ("missing", 0.02), ("hang", 0.01), ("short", 0.01), ("wrong", 0.01), ("away", 0.1))
"""Ways in which the origin treats files, and their shares; all other files are served."""

REASONS = {
    "error": "http_5xx",
    "missing": "http_4xx",
    "hang": "idle_timeout",
    "short": "truncated",
    "wrong": "checksum",
}


class Verdict(NamedTuple):
    """The result of a storm: stored files, dead letters by reason, and all faults."""

    stored: int
    dead: Counter[str]
    faults: list[str]


def treatment(name: str) -> str:
    """Return the treatment of a file by the origin: always the same."""
    chance = random.Random(name).random()
    for kind, share in SHARES:
        if chance < share:
            return kind
        chance -= share
    return "served"


def content(name: str) -> bytes:
    """Return the bytes of a file."""
    size = 2_000_000 if hash_of(name.encode()).startswith("00") else 5_000
    return hashlib.sha256(name.encode()).digest() * (size // 32)


def checksum(name: str) -> str | None:
    """Return the checksum that a sender gives for a file: only for those whose length the origin gets wrong."""
    return f"sha256:{hash_of(content(name))}" if treatment(name) == "wrong" else None


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Origin:
    """A site with files; `healed` answers every request well, except for missing files."""

    def __init__(self) -> None:
        self.healed = False
        self.cdn: Server | None = None
        self.cdn_host = "cdn.test"

    async def answer(self, peer: Peer) -> None:
        """Answer the requests of one connection."""
        while await peer.request():
            name = peer.path.rpartition("/")[2]
            kind = treatment(name) if not peer.path.startswith("/cdn") else "served"
            if self.healed and kind not in ("missing", "away"):
                kind = "served"
            if not await self._answer(peer, name, kind):
                return

    async def _answer(self, peer: Peer, name: str, kind: str) -> bool:
        data = content(name)
        head = b'HTTP/1.1 200 OK\r\nETag: "%s"\r\nContent-Length: %d\r\n\r\n' % (name.encode(), len(data))
        match kind:
            case "error":
                await peer.send(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")
            case "missing":
                await peer.send(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
            case "hang":
                await peer.goodbye()
                return False
            case "short":
                await peer.send(head.replace(b"ETag", b"X-None"), data[: len(data) // 2])
                peer.writer.close()
                return False
            case "wrong":  # the announced length is half of the file's, and only a checksum shows it
                await peer.send(
                    head.replace(b"Content-Length: %d" % len(data), b"Content-Length: %d" % (len(data) // 2)), data
                )
                peer.writer.close()
                return False
            case "away":
                assert self.cdn is not None
                target = self.cdn.url(f"/cdn/{name}", self.cdn_host).encode()
                await peer.send(b"HTTP/1.1 302 X\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % target)
            case _:
                await peer.send(head, data)
        return True


async def work(database: str, objects: str, owner: int) -> None:
    """Work until killed."""
    async with open_workshop(database, objects) as workshop:
        settings = WorkerSettings(
            concurrency=8, lease=LEASE_SECONDS, idle_poll=0.1, flush_after=0.1, downloads=16, tasks_per_host=32
        )
        await workshop.worker(owner, settings=settings).run(asyncio.Event())


class Crew:
    """The processes of workers; `trouble` kills one and starts another, or stops one for longer than its lease."""

    def __init__(self, database: str, objects: str) -> None:
        self._place, self._next = (database, objects), 1
        self.processes = [self._start() for _ in range(WORKERS)]

    def _start(self) -> "subprocess.Popen[bytes]":
        self._next += 1
        order = ("--work", *self._place, str(self._next))
        return subprocess.Popen([sys.executable, "-m", "tests.chaos.downloads", *order], stderr=subprocess.DEVNULL)

    async def trouble(self, number: int) -> None:
        """Kill or stop a worker."""
        place = number % WORKERS
        process = self.processes[place]
        if number % 3:
            process.kill()
            process.wait()
            self.processes[place] = self._start()
        else:
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(LEASE_SECONDS * 1.3)
            process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill every worker."""
        for process in self.processes:
            process.kill()
            process.wait()


async def _ended(workshop: Workshop, runs: list[int]) -> bool:
    found = [await workshop.records.runs.get(run_id) for run_id in runs]
    return all(run is not None and run.ended_at is not None for run in found)


async def weather(workshop: Workshop, crew: Crew, runs: list[int], every: float) -> None:
    """Trouble the workers until every run has ended."""
    number = 0
    while not await _ended(workshop, runs):
        await asyncio.sleep(every)
        await workshop.lifecycle.reap()
        number += 1
        if number <= 12:
            await crew.trouble(number)


async def judged(workshop: Workshop, runs: list[int]) -> Verdict:
    """Compare rows, objects and dead letters with the origin's treatment of each file."""
    rows: list[DownloadRow] = []
    for run_id in runs:
        rows += await workshop.records.downloads.find(run_id, limit=100_000)
    letters = await workshop.records.dead_letters.find(DeadLetterFilter(replayed=False), limit=1_000_000)
    faults = [f"{row.resource_id}: {row.state}" for row in rows if row.state not in ("completed", "failed")]
    for row in rows:
        if row.state == "completed":
            served = hash_of(content(row.given_url.rpartition("/")[2]))
            kept = hash_of(await workshop.blobs.get(row.key))
            if not served == kept == row.sha256:
                faults.append(f"{row.resource_id}: object or row differs from what was served")
    for letter in letters:
        expected = REASONS.get(treatment(letter.url.rpartition("/")[2]))
        if letter.reason != expected:
            faults.append(f"{letter.resource_id}: {letter.reason} instead of {expected}")
    failed = {row.task_id for row in rows if row.state == "failed"}
    if failed != {letter.task_id for letter in letters}:
        faults.append("the dead letters are not the files that failed")
    return Verdict(len(rows) - len(failed), Counter(letter.reason for letter in letters), faults)


def files_of(server: Server, run: int, files: int) -> list[NewDownload]:
    """Return the files of a run; the first ten are five pairs with one URL each."""
    urls = [server.url(f"/{run}-{n // 2 * 2 if n < 10 else n}") for n in range(files)]
    return [
        file(server, f"{run}-{n}", url=url, checksum=checksum(url.rpartition("/")[2])) for n, url in enumerate(urls)
    ]


async def storm(database: str, objects: str, runs: int, files: int, every: float) -> tuple[Verdict, Verdict]:
    """Let a storm pass; return the verdict after it, and after a replay with a healed origin."""
    origin = Origin()
    async with (
        serving(origin.answer) as server,
        serving(origin.answer) as cdn,
        open_workshop(database, objects) as shop,
    ):
        origin.cdn = cdn
        begun = [await shop.begin(files_of(server, run, files)) for run in range(runs)]
        crew = Crew(database, objects)
        try:
            await weather(shop, crew, begun, every)
            after = await judged(shop, begun)
            origin.healed = True
            await shop.lifecycle.downloads.replay(DeadLetterFilter())
            while not await _ended(shop, begun):
                await asyncio.sleep(0.2)
                await shop.lifecycle.reap()
            return after, await judged(shop, begun)
        finally:
            crew.end()


async def migrated(database: str) -> None:
    """Make the tables."""
    records = await open_records(database, SystemClock())
    await records.schema.migrate()
    await records.schema.close()


def main() -> None:
    """Run a storm and print its verdicts."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.downloads", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two troubles")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        asyncio.run(work(asked.work[0], asked.work[1], int(asked.work[2])))
        return
    with tempfile.TemporaryDirectory() as place:
        database = f"sqlite:///{Path(place) / 'records.db'}"
        asyncio.run(migrated(database))
        for verdict in asyncio.run(storm(database, f"{place}/objects", asked.runs, asked.files, asked.every)):
            print(f"stored {verdict.stored}, dead {dict(verdict.dead)}, faults {verdict.faults[:20]}", flush=True)


if __name__ == "__main__":
    main()
