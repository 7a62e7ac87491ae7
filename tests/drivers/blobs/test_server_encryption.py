"""Encryption by a real S3 server: objects are read back unchanged, and the disk has none of their bytes."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

from longline.drivers.blobs import open_blobs
from tests.drivers.blobs.address import s3_url
from tests.servers.s3 import S3Bucket, S3Server

PIECE_BYTES, PIECES = 1024 * 1024, 12
"""An object of these pieces is sent in parts."""


def on_disk(folder: Path, wanted: bytes) -> bool:
    """Return True if a file of the server has these bytes."""
    return any(wanted in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def becomes_visible(folder: Path, wanted: bytes) -> bool:
    """Return True if the server writes these bytes to its disk within 20 seconds."""
    deadline = time.monotonic() + 20
    while not on_disk(folder, wanted):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.2)
    return True


async def test_a_server_that_encrypts_has_no_plain_bytes_on_its_disk(s3_server: S3Server, s3_bucket: S3Bucket):
    url = s3_url(s3_bucket)
    plain, small, pieces = os.urandom(40_000), os.urandom(40_000), [os.urandom(PIECE_BYTES) for _ in range(PIECES)]

    async def large() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    encrypted = open_blobs(f"{url}&encryption=AES256")
    await encrypted.put("small", small)
    await encrypted.upload("large", large())
    assert await encrypted.get("small") == small
    assert await open_blobs(url).get("large") == b"".join(pieces), "the server decrypts for every reader"
    await open_blobs(url).put("plain", plain)
    assert await becomes_visible(s3_server.folder, plain[1000:1100]), "the test can find plain bytes"
    assert not on_disk(s3_server.folder, small[1000:1100])
    assert not on_disk(s3_server.folder, pieces[5][1000:1100])
