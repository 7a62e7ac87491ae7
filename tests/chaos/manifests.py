"""Clients that post manifests while the server is killed, and gzip bombs.

`python -m tests.chaos.manifests FOLDER [SECONDS CLIENTS KILLS]` prints the figures.
"""

import asyncio
import gzip
import json
import random
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.servers.process import free_ports
from tests.servers.program import Program
from tests.surfaces.manifests.running import config, environment

MB = 1024 * 1024
PATIENCE_SECONDS = 120.0
RESOURCES = 3


@dataclass
class Posted:
    """The answers that clients got, by key, with the metadata of each; and the milliseconds of answered requests."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    metadata: dict[str, bytes] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)
    refusals: int = 0

    def quantile(self, share: float) -> float:
        return sorted(self.milliseconds)[min(len(self.milliseconds) - 1, int(share * len(self.milliseconds)))]


class Server:
    """A server that is killed and restarted on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = environment(folder, config(folder), LONGLINE_PORT=str(self.port))
        self.start()

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        self.program = Program(["up"], env=self._environment, stdout=log, stderr=log)
        log.close()

    def kill(self) -> None:
        """Kill the server, and start another one."""
        self.program.kill()
        self.program.wait()
        self.start()

    async def ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        async with httpx.AsyncClient(base_url=self.url, timeout=10) as client:
            while True:
                try:
                    if (await client.get("/health/ready")).status_code == 200:
                        return
                except httpx.TransportError:
                    assert time.monotonic() < deadline
                await asyncio.sleep(0.1)

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.program.pid}/statm").read_text().split()[1])
        return pages * 4096

    def stop(self) -> None:
        self.program.terminate()
        try:
            self.program.wait(30)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()


def body(key: str) -> tuple[bytes, bytes]:
    """Return a manifest and its metadata."""
    metadata = json.dumps({"key": key, "text": "é" * 200}).encode()
    resources = [{"id": f"r{n}", "url": "ftp://nowhere.invalid/"} for n in range(RESOURCES)]
    whole = (
        b'{"manifest_version":"v1","metadata":' + metadata + b',"resources":' + json.dumps(resources).encode() + b"}"
    )
    return whole, metadata


async def post(client: httpx.AsyncClient, key: str, posted: Posted) -> dict[str, Any]:
    """Send a manifest until it is answered with 202."""
    data, metadata = body(key)
    headers = {
        "Content-Type": "application/json",
        "X-Fetchbox-Job-Type": "gallery",
        "X-Fetchbox-Idempotency-Key": key,
    }
    while True:
        begun = time.perf_counter()
        try:
            answer = await client.post("/jobs", content=data, headers=headers)
        except httpx.TransportError:
            await asyncio.sleep(0.2)
            continue
        if answer.status_code == 202:
            posted.milliseconds.append((time.perf_counter() - begun) * 1000)
            posted.metadata[key] = metadata
            found: dict[str, Any] = answer.json()
            return found
        assert answer.status_code == 503, answer.text
        posted.refusals += 1
        await asyncio.sleep(0.5)


async def post_and_kill(server: Server, seconds: float, clients: int, kills: int) -> Posted:
    """Let clients post for some seconds, and kill the server in between; every request is sent until it is answered."""
    posted, until = Posted(), time.monotonic() + seconds
    limits = httpx.Limits(max_connections=clients)

    async def client_of(number: int, client: httpx.AsyncClient) -> None:
        count = 0
        while time.monotonic() < until:
            key = f"c{number}-{count}"
            posted.answers[key] = await post(client, key, posted)
            count += 1

    async def killer() -> None:
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1) * random.uniform(0.8, 1.2))
            await asyncio.to_thread(server.kill)

    async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:
        await asyncio.gather(killer(), *(client_of(number, client) for number in range(clients)))
    return posted


async def check(server: Server, posted: Posted) -> int:
    """Prove that every answer is whole, that no other job exists, and that keys give the same answers again."""
    await server.ready()
    ids = {one["job_id"] for one in posted.answers.values()}
    assert len(ids) == len(posted.answers)
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        for key, answer in posted.answers.items():
            stored = server.folder / "objects" / "manifests" / "gallery" / answer["job_id"] / "metadata.json"
            assert stored.read_bytes() == posted.metadata[key]
            assert answer["resource_count"] == RESOURCES
        seen, cursor = set(), None
        while True:
            page = (
                await client.get("/operators/jobs", params={"limit": 1000} | ({"cursor": cursor} if cursor else {}))
            ).json()
            for job in page["jobs"]:
                assert job["job_id"] in ids or job["status"] == "failed", job
                assert job["job_id"] not in ids or job["resource_total"] == RESOURCES
                seen.add(job["job_id"])
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert ids <= seen
        again = Posted()
        for key in random.sample(sorted(posted.answers), min(100, len(posted.answers))):
            assert await post(client, key, again) == posted.answers[key]
    return len(ids)


@contextmanager
def watched(server: Server) -> Iterator[list[int]]:
    """Yield the resident sizes of the server, sampled every few milliseconds."""
    sizes, stop = [server.resident_bytes()], threading.Event()

    def look() -> None:
        while not stop.wait(0.005):
            sizes.append(server.resident_bytes())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield sizes
    finally:
        stop.set()
        thread.join()


def bomb(size: int) -> bytes:
    """Return gzip data of this many zeros."""
    made, piece = [], zlib.compressobj(9, zlib.DEFLATED, 31)
    for _ in range(size // MB):
        made.append(piece.compress(bytes(MB)))
    made.append(piece.compress(bytes(size % MB)))
    return b"".join([*made, piece.flush()])


async def send_bombs(server: Server, sizes: list[int]) -> float:
    """Send gzip bombs, which must be refused; return the megabytes by which the server grew at most."""
    await server.ready()
    headers = {"Content-Type": "application/json", "X-Fetchbox-Job-Type": "gallery", "Content-Encoding": "gzip"}
    made = [bomb(size) for size in sizes]
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        small = gzip.compress(b"{}")
        for _ in range(20):
            assert (await client.post("/jobs", content=small, headers=headers)).status_code == 400
        with watched(server) as found:
            for data in made:
                for _ in range(3):
                    assert (await client.post("/jobs", content=data, headers=headers)).status_code == 413
    return (max(found) - found[0]) / MB


async def main(folder: Path, seconds: float, clients: int, kills: int) -> None:
    """Print the figures of both."""
    server = Server(folder)
    try:
        await server.ready()
        grown = await send_bombs(server, [5 * MB + 1, 5 * 1024 * MB])
        print(f"gzip bombs of 5 MB + 1 and 5 GB: the server grew by {grown:.1f} MB")
        posted = await post_and_kill(server, seconds, clients, kills)
        count = await check(server, posted)
        print(
            f"{clients} clients, {kills} kills, {seconds:.0f} s: {count} manifests, all whole; p50"
            f" {posted.quantile(0.5):.0f} ms, p99 {posted.quantile(0.99):.0f} ms, {posted.refusals} answers with 503"
        )
    finally:
        server.stop()


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[2:5]] or [60.0, 200.0, 3.0]
    asyncio.run(main(Path(sys.argv[1]), given[0], int(given[1]), int(given[2])))
