"""Clients that follow the log of a job, disconnect at random and resume by `since_offset`.

`python -m tests.chaos.manifest_logs [CLIENTS RESOURCES]` prints the figures. Every client must get every line once, in
order: while the job runs, and again after its entries were deleted from the database and only the archive has them.
"""

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from tests.surfaces.manifests.origin import Origin, running_origin
from tests.surfaces.manifests.running import Box, running_box

PATIENCE_SECONDS = 300.0
LINES = {"Accept": "application/x-ndjson"}


class Reader:
    """One client, and the offsets of the lines that it got; `stays` bounds the lines of one connection."""

    def __init__(self, url: str, job_id: str, stays: int) -> None:
        self._url, self._stays = f"{url}/operators/jobs/{job_id}/logs", stays
        self.offsets: list[int] = []
        self.visits = 0

    async def read(self, client: httpx.AsyncClient, last: int | None) -> None:
        """Read until the offset `last`, or until the stream has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.visits += 1
            try:
                has_ended = await self._visit(client, last)
            except httpx.TransportError:
                has_ended = False
            if last is not None and self.offsets[-1:] == [last]:
                return
            if last is None and has_ended:
                return
        raise TimeoutError(f"{len(self.offsets)} lines in {PATIENCE_SECONDS} s")

    async def _visit(self, client: httpx.AsyncClient, last: int | None) -> bool:
        """Read some lines and go away; return whether the server ended the stream."""
        wanted = random.randint(1, self._stays)
        params: dict[str, Any] = {"since_offset": self.offsets[-1] + 1 if self.offsets else 0}
        if last is None:
            params["follow"] = "true"
        async with client.stream("GET", self._url, params=params, headers=LINES) as answer:
            assert answer.status_code == 200, answer.status_code
            async for line in answer.aiter_lines():
                if not line:  # a heartbeat
                    continue
                self.offsets.append(json.loads(line)["offset"])
                wanted -= 1
                if not wanted:
                    return False
        return True


async def follow(url: str, job_id: str, clients: int, last: int | None, stays: int) -> list[Reader]:
    """Let many clients read the log of a job."""
    readers = [Reader(url, job_id, stays) for _ in range(clients)]
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        await asyncio.gather(*(reader.read(client, last) for reader in readers))
    return readers


def faults_of(readers: list[Reader], last: int) -> list[str]:
    """Return all faults: lines that are missing, twice or out of order."""
    whole = list(range(1, last + 1))
    return [f"{len(one.offsets)} lines instead of {last}" for one in readers if one.offsets != whole]


def entries_of(folder: Path, job_id: str) -> int:
    """Return the number of entries that the database still has."""
    [file] = [path for path in folder.glob("*.db") if path.stat().st_size]
    with sqlite3.connect(file) as database:
        query = "SELECT COUNT(*) FROM entries WHERE run_id = (SELECT id FROM runs WHERE uid = ?)"
        return int(database.execute(query, (job_id,)).fetchone()[0])


def run(folder: Path, origin: Origin, clients: int, resources: int) -> tuple[int, int, list[str]]:
    """Read a log while its job runs, and again from the archive; return its lines, the visits and all faults."""
    with running_box(folder, origin, LONGLINE_RUN_LOG_RATE="100000") as box:
        origin.gate.clear()
        paths = [f"/{'gate' if n % 10 == 0 else 'logs'}/{n}" for n in range(resources)]
        job_id = box.submit(*paths)
        followed = asyncio.run(_followed(box, job_id, origin, clients, resources // 4))
        last = len(box.log(job_id, limit=100_000))
        faults = faults_of(followed, last)
    with running_box(folder, origin, LONGLINE_RUN_LOG_TTL="1s") as box:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while entries_of(folder, job_id):
            assert time.monotonic() < deadline, "the entries are still there"
            time.sleep(0.2)
        url = str(box.client.base_url).rstrip("/")
        read = asyncio.run(follow(url, job_id, clients, last, resources // 4))
        faults += [f"archive: {fault}" for fault in faults_of(read, last)]
    return last, sum(one.visits for one in (*followed, *read)), faults


async def _followed(box: Box, job_id: str, origin: Origin, clients: int, stays: int) -> list[Reader]:
    async def open_gate() -> None:
        await asyncio.sleep(2)
        origin.gate.set()

    opening = asyncio.create_task(open_gate())
    readers = await follow(str(box.client.base_url).rstrip("/"), job_id, clients, None, stays)
    await opening
    return readers


if __name__ == "__main__":
    count, files = (int(word) for word in (sys.argv[1:3] or ("200", "1000")))
    with tempfile.TemporaryDirectory() as place, running_origin() as site:
        lines, visits, wrong = run(Path(place), site, count, files)
        print(f"{count} clients, {visits} visits, {lines} lines each, twice: faults {wrong[:10] or 'none'}")
