"""Files that were stored under a lost lease: the object and the row of the winner agree in the end."""

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from longline.engine.downloads.disputed_files import DisputedFiles, digest_of
from longline.model.downloads.download import NewDownload, StoredFile
from tests.drivers.http.wire import Peer, serving
from tests.engine.downloads.test_downloader import file, objects, routes
from tests.engine.downloads.workshop import Workshop


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def stored(name: str, data: bytes) -> StoredFile:
    return StoredFile(f"resources/{name}", len(data), sha256(data), "text/plain")


async def finished(workshop: Workshop, data: bytes | None = b"right") -> int:
    """Download a file to its end, with these bytes or without success; return its task."""
    async with serving(routes(a=lambda peer: _answer(peer, data))) as server:
        rows = await workshop.download([file(server, "a")])
    return rows["a"].task_id


async def _answer(peer: Peer, data: bytes | None) -> None:
    if data is None:
        await peer.send(b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
    else:
        await peer.answer(data)


def disputed(workshop: Workshop) -> DisputedFiles:
    return DisputedFiles(workshop.blobs, workshop.records.downloads, workshop.lifecycle.tasks)


async def state(workshop: Workshop, task_id: int) -> str:
    row = await workshop.records.downloads.get(task_id)
    assert row is not None
    return row.state


@pytest.mark.parametrize(("overwritten", "became"), [(b"right", "completed"), (b"wrong", "pending")])
async def test_an_object_that_differs_from_its_row_is_downloaded_again(
    workshop: Workshop, overwritten: bytes, became: str
):
    task_id = await finished(workshop)
    await workshop.blobs.put("resources/a", overwritten)
    files = disputed(workshop)
    files.add(task_id, stored("a", overwritten))
    await files.settle()
    assert await state(workshop, task_id) == became
    await files.settle()


async def test_an_object_that_the_winner_stored_later_is_left_alone(workshop: Workshop):
    task_id = await finished(workshop)
    files = disputed(workshop)
    files.add(task_id, stored("a", b"older"))
    await files.settle()
    assert await state(workshop, task_id) == "completed"
    assert await objects(workshop) == {"resources/a": b"right"}


async def test_the_object_of_a_failed_file_is_deleted(workshop: Workshop):
    task_id = await finished(workshop, None)
    await workshop.blobs.put("resources/a", b"late")
    files = disputed(workshop)
    files.add(task_id, stored("a", b"late"))
    await files.settle()
    assert await objects(workshop) == {}


async def test_a_dispute_lasts_until_the_task_has_ended(workshop: Workshop):
    run_id = await workshop.begin([NewDownload(resource_id="a", url="https://a.example/", key="resources/a")])
    [row] = await workshop.records.downloads.find(run_id)
    await workshop.blobs.put("resources/a", b"late")
    files = disputed(workshop)
    files.add(row.task_id, stored("a", b"late"))
    await files.settle()
    assert (await state(workshop, row.task_id), await objects(workshop)) == ("pending", {"resources/a": b"late"})


async def test_the_digest_of_an_object_is_read_in_pieces(workshop: Workshop):
    data = os.urandom(2_500_000)
    await workshop.blobs.put("large", data)
    assert await digest_of(workshop.blobs, StoredFile("large", len(data), "", "")) == sha256(data)
    assert await digest_of(workshop.blobs, StoredFile("large", len(data) + 1, "", "")) is None
    assert await digest_of(workshop.blobs, StoredFile("none", 1, "", "")) is None


STOPPED = """
import asyncio, os, signal, sys, time
from longline.engine.frontier.claims import WorkerSettings
from tests.engine.downloads.workshop import open_workshop
# Stopped between the last look at the lease and the rename of the object.
really = os.replace
def replace(source, target):
    if "resources" in str(target):
        os.replace = really
        print("stopped", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.5)  # the signal reaches another thread first
    return really(source, target)
os.replace = replace
async def main():
    async with open_workshop(sys.argv[1], sys.argv[2]) as workshop:
        settings = WorkerSettings(concurrency=4, lease=1.5, idle_poll=0.05, flush_after=0.05, downloads=4)
        await workshop.worker(7, settings=settings).run(asyncio.Event())
asyncio.run(main())
"""


async def settled(workshop: Workshop, run_id: int, requests: int) -> bool:
    """Return whether the file was downloaded once more, and the run has ended again."""
    run = await workshop.records.runs.get(run_id)
    return requests > 2 and run is not None and run.state == "completed"


async def eventually(look: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(30):
        while True:
            if await look():
                return
            await asyncio.sleep(0.05)


async def test_a_worker_stopped_before_its_last_step_leaves_the_right_object(
    workshop: Workshop, migrated_file: str, tmp_path: Path
):
    bodies = iter([b"from the stopped worker", b"from the winner"])

    async def answer(peer: Peer) -> None:
        await peer.answer(next(bodies, b"from the winner"))

    async with serving(routes(a=answer)) as server:
        run_id = await workshop.begin([file(server, "a")])
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", STOPPED, migrated_file, str(tmp_path / "objects")), stdout=asyncio.subprocess.PIPE
        )
        try:
            assert worker.stdout is not None
            assert await worker.stdout.readline() == b"stopped\n"
            await asyncio.sleep(1.6)
            await workshop.lifecycle.reap()
            await workshop.done(run_id)
            assert await objects(workshop) == {"resources/a": b"from the winner"}
            worker.send_signal(signal.SIGCONT)
            await eventually(lambda: settled(workshop, run_id, len(server.heads)))
        finally:
            worker.kill()
            await worker.wait()
    [row] = await workshop.records.downloads.find(run_id)
    assert await objects(workshop) == {"resources/a": b"from the winner"}
    assert row.sha256 == sha256(b"from the winner")
