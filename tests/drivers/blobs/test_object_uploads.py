"""Objects that are uploaded in pieces, on each engine: stored completely or not at all."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import obstore
import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.blobs.object_uploads import MAX_BUFFERED_OBJECTS, PART_BYTES, UNCOUNTED_BYTES
from longline.model.errors import BadInput, NotFound, UploadRefused
from longline.ports.blobs import Blobs, StreamingBlobs
from tests.drivers.blobs.address import s3_url
from tests.servers.s3 import S3Bucket, S3Server

MB = 1024 * 1024
SIZES = [0, 1, UNCOUNTED_BYTES + 1, MB + 1, PART_BYTES + 1, 2 * PART_BYTES + 300_000]


class Broken(Exception):
    """A failure before the last piece."""


async def flow(data: bytes, size: int = 300_000, failure: Exception | None = None) -> AsyncIterator[memoryview]:
    """Yield the data in pieces; raise the failure, if any, at the end."""
    for start in range(0, len(data), size):
        yield memoryview(data)[start : start + size]
    if failure is not None:
        raise failure


async def names(blobs: Blobs, prefix: str = "") -> list[str]:
    return [info.key async for info in blobs.list(prefix)]


@pytest.mark.parametrize("size", SIZES)
async def test_an_object_is_stored_unchanged(blobs: StreamingBlobs, size: int):
    data = os.urandom(size)
    assert await blobs.upload("a/b", flow(data)) == size
    assert hashlib.sha256(await blobs.get("a/b")).digest() == hashlib.sha256(data).digest()


@pytest.mark.parametrize("size", SIZES)
async def test_an_object_with_failing_pieces_is_not_stored(blobs: StreamingBlobs, size: int):
    await blobs.put("kept", b"before")
    with pytest.raises(Broken):
        await blobs.upload("kept", flow(os.urandom(size), failure=Broken()))
    with pytest.raises(Broken):
        await blobs.upload("new", flow(os.urandom(size), failure=Broken()))
    assert await blobs.get("kept") == b"before"
    assert await names(blobs) == ["kept"]


@pytest.mark.parametrize("size", [0, UNCOUNTED_BYTES + 1, 2 * PART_BYTES])
async def test_a_cancelled_object_is_not_stored(blobs: StreamingBlobs, size: int):
    reached = asyncio.Event()

    async def endless() -> AsyncIterator[memoryview]:
        async for piece in flow(os.urandom(size)):
            yield piece
        reached.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(blobs.upload("never", endless()))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await names(blobs) == []


async def test_no_object_is_visible_before_its_last_piece(blobs: StreamingBlobs):
    data, seen = os.urandom(3 * PART_BYTES), []

    async def watched() -> AsyncIterator[memoryview]:
        async for piece in flow(data, MB):
            yield piece
            seen.append(await names(blobs))

    await blobs.upload("late", watched())
    assert seen == [[]] * (3 * PART_BYTES // MB)
    assert await names(blobs) == ["late"]


async def test_many_objects_are_stored_at_once(blobs: StreamingBlobs):
    files = {f"f/{n % 7}/{n}": os.urandom(n * 100) for n in range(100)}
    sizes = await asyncio.gather(*(blobs.upload(key, flow(data)) for key, data in files.items()))
    assert list(sizes) == [len(data) for data in files.values()]
    assert {key: await blobs.get(key) for key in files} == files


async def test_large_objects_wait_for_each_other_and_all_are_stored(blobs: StreamingBlobs):
    files = {f"large/{n}": os.urandom(UNCOUNTED_BYTES + n) for n in range(1, MAX_BUFFERED_OBJECTS + 5)}
    await asyncio.gather(*(blobs.upload(key, flow(data, 100_000)) for key, data in files.items()))
    assert {key: await blobs.get(key) for key in files} == files


async def test_a_refused_object_does_not_fail_the_others(tmp_path: Path):
    blobs = open_blobs(str(tmp_path))
    await blobs.put("file", b"")
    keys = ["a", "file/below", "b", "c", "d"]
    results = await asyncio.gather(*(blobs.upload(key, flow(b"x")) for key in keys), return_exceptions=True)
    assert [type(result) for result in results] == [int, BadInput, int, int, int]
    assert await names(blobs) == ["a", "b", "c", "d", "file"]
    assert list((tmp_path / ".staging").iterdir()) == []


async def test_another_bucket_has_objects_of_its_own(blobs: StreamingBlobs, request: pytest.FixtureRequest):
    if "s3" in request.node.name:
        server: S3Server = request.getfixturevalue("s3_server")
        server.create_bucket("other-bucket")
    other = blobs.bucket("other-bucket")
    await other.upload("a", flow(b"there"))
    await blobs.upload("a", flow(b"here"))
    assert (await blobs.get("a"), await other.get("a")) == (b"here", b"there")
    assert blobs.bucket("other-bucket") is other
    for name in ("", "..", "a/b", "UP", "x" * 64, "a..b"):
        with pytest.raises(BadInput):
            blobs.bucket(name)


@pytest.mark.parametrize("size", [3, PART_BYTES + 1])
async def test_a_wrong_key_refuses_the_objects_of_its_own_store_alone(s3_bucket: S3Bucket, size: int):
    blobs = open_blobs(s3_url(s3_bucket))
    wrong = open_blobs(s3_url(s3_bucket._replace(secret_key="wrong")))
    with pytest.raises(UploadRefused, match="refuses our key") as refused:
        await wrong.upload("a", flow(b"x" * size))
    assert refused.value.is_final
    assert await blobs.upload("a", flow(b"x" * size)) == size


async def test_labels_are_requested_after_the_last_piece_of_a_small_object(blobs: StreamingBlobs):
    asked: list[str] = []

    async def last() -> AsyncIterator[memoryview]:
        yield memoryview(b"x")
        asked.append("end of pieces")

    def labels() -> dict[str, str]:
        asked.append("labels")
        return {"Content-Type": "image/png", "name": "ü"}

    await blobs.upload("labelled", last(), labels)
    assert asked in (["end of pieces", "labels"], ["end of pieces"])
    with pytest.raises(NotFound):
        await blobs.get("unlabelled")


ODD_NAMES = ("crawl id", "a\nb", "ü", "a:b", "", "a%20b", "語" * 20)


@pytest.mark.parametrize("size", [1, PART_BYTES + 1])
async def test_labels_of_any_name_and_value_are_stored_with_their_object(blobs: StreamingBlobs, size: int):
    for name in ODD_NAMES:
        labels = {name: "a\r\nb\0ü"}
        assert await blobs.upload("labelled", flow(b"x" * size), labels.copy) == size


@pytest.mark.parametrize("size", [1, PART_BYTES + 1])
async def test_names_of_labels_are_stored_in_the_form_of_s3(s3_bucket: S3Bucket, size: int):
    blobs: Any = open_blobs(s3_url(s3_bucket))
    await blobs.upload("labelled", flow(b"x" * size), lambda: {"crawl id": "7", "größe": "a\nb"})
    found = (await obstore.get_async(blobs._store, "labelled")).attributes
    assert {unquote(name): unquote(value) for name, value in found.items() if "%" in name} == {
        "crawl id": "7",
        "größe": "a\nb",
    }


@pytest.mark.parametrize("size", [1, PART_BYTES + 1])
async def test_an_object_at_which_the_library_panics_is_refused_for_good(
    s3_bucket: S3Bucket, monkeypatch: pytest.MonkeyPatch, size: int
):
    blobs = open_blobs(s3_url(s3_bucket))
    monkeypatch.setattr("longline.drivers.blobs.object_uploads.ascii_labels", dict)
    with pytest.raises(UploadRefused, match="panicked") as refused:
        await blobs.upload("a", flow(b"x" * size), lambda: {"crawl id": "7"})
    assert refused.value.is_final


@pytest.mark.parametrize("size", [1, PART_BYTES + 1])
@pytest.mark.parametrize("labels", [{f"k{n}": "v" for n in range(1000)}, {"k": "v" * 2_000_000}], ids=["many", "long"])
async def test_labels_that_no_request_can_carry_do_not_make_the_store_unavailable(
    s3_bucket: S3Bucket, labels: dict[str, str], size: int
):
    blobs = open_blobs(s3_url(s3_bucket))
    with pytest.raises(UploadRefused, match="labels of the object have") as refused:
        await blobs.upload("a", flow(b"x" * size), lambda: labels)
    assert refused.value.is_final
    assert await blobs.upload("a", flow(b"x" * size), lambda: {f"k{n}": "v" for n in range(400)}) == size
