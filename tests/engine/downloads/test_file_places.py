"""Places for files: a small file leaves its place with its last byte, a large one after it is stored."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

import msgspec
import pytest

from longline.drivers.blobs import open_blobs
from longline.engine.downloads.file_places import SMALL_FILE_BYTES, STORED_PER_PLACE
from longline.engine.frontier.claims import WorkerSettings
from longline.model.errors import UploadRefused
from longline.model.runs.crawl_plan import Politeness
from longline.ports.blobs import Labels, StreamingBlobs
from tests.drivers.http.wire import Peer, Server, serving
from tests.engine.downloads.test_downloader import file
from tests.engine.downloads.workshop import PLAN, Workshop

ALONE = msgspec.structs.replace(PLAN, politeness=Politeness(robots=False, delay_ms=0, concurrency=1))
SETTINGS = WorkerSettings(concurrency=4, lease=1.0, idle_poll=0.05, flush_after=0.05, downloads=1)


class SlowStore:
    """A store that stores no object before `open` is set, and refuses the first ones."""

    def __init__(self, blobs: StreamingBlobs, refusals: int = 0) -> None:
        self._blobs, self.open, self._refusals, self.begun = blobs, asyncio.Event(), refusals, 0

    async def upload(self, key: str, pieces: AsyncIterable[bytes | memoryview], labels: Labels | None = None) -> int:
        data = b"".join([bytes(piece) async for piece in pieces])
        self.begun += 1
        if self._refusals:
            self._refusals -= 1
            raise UploadRefused("not now", is_final=False)
        await self.open.wait()

        async def whole() -> AsyncIterator[bytes]:
            yield data

        return await self._blobs.upload(key, whole(), labels)


def slow(workshop: Workshop, refusals: int = 0) -> SlowStore:
    """Put a slow store into a workshop."""
    store = SlowStore(open_blobs("memory://"), refusals)
    workshop.blobs = store  # type: ignore[assignment]  # uploads are all that is used
    return store


async def requested(server: Server, count: int, seconds: float = 10.0) -> bool:
    """Return whether a server gets so many requests in time."""
    for _ in range(round(seconds / 0.02)):
        if len(server.heads) >= count:
            return True
        await asyncio.sleep(0.02)
    return False


@pytest.mark.parametrize(("size", "overlaps"), [(1000, True), (SMALL_FILE_BYTES + 1, False)])
async def test_the_next_file_is_requested_while_a_small_one_is_stored(workshop: Workshop, size: int, overlaps: bool):
    store = slow(workshop)

    async def answer(peer: Peer) -> None:
        while await peer.request():
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, b"x" * size)

    async with serving(answer) as server:
        run_id = await workshop.begin([file(server, f"f{n}") for n in range(20)], ALONE)
        working = asyncio.create_task(workshop.done(run_id, workshop.worker(settings=SETTINGS)))
        assert await requested(server, 2, 10.0 if overlaps else 0.5) is overlaps
        if overlaps:  # one file in its place, and so many without one; all wait for longer than a lease
            assert await requested(server, STORED_PER_PLACE + 1)
            assert not await requested(server, STORED_PER_PLACE + 2, 1.5)
        store.open.set()
        run = await working
    assert run.state == "completed"
    rows = await workshop.records.downloads.find(run_id)
    assert {row.attempts for row in rows} == {1}, "no lease was lost"
    assert len(server.heads) == 20


async def test_a_host_is_kept_while_its_last_files_are_stored(workshop: Workshop):
    store = slow(workshop)

    async def answer(peer: Peer) -> None:
        while await peer.request():
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    async with serving(answer) as server:
        run_id = await workshop.begin([file(server, f"f{n}") for n in range(3)], ALONE)
        working = asyncio.create_task(workshop.done(run_id, workshop.worker(settings=SETTINGS)))
        assert await requested(server, 3)
        assert not await requested(server, 4, 1.5)
        store.open.set()
        run = await working
    assert run.state == "completed"
    assert (len(server.heads), store.begun) == (3, 3)


async def test_a_file_that_the_store_refused_gets_a_place_again(workshop: Workshop):
    store = slow(workshop, refusals=1)
    store.open.set()

    async def answer(peer: Peer) -> None:
        while await peer.request():
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    async with serving(answer) as server:
        run_id = await workshop.begin([file(server, f"f{n}") for n in range(4)], ALONE)
        worker = workshop.worker(settings=SETTINGS)
        run = await workshop.done(run_id, worker)
    assert run.state == "completed"
    assert len(server.heads) == 5
    assert all(host.inflight == host.storing == 0 for host in worker.hand)
