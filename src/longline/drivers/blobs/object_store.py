"""Objects through obstore: memory and S3."""

import atexit
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import obstore
from obstore.exceptions import BaseError
from obstore.store import MemoryStore, ObjectStore

from longline.drivers.blobs.object_keys import as_chunks, check_range, checked_key, checked_prefix
from longline.drivers.blobs.self_test import write_and_read
from longline.model.errors import NotFound, Unavailable
from longline.ports.blobs import BlobInfo

PART_BYTES = 8 * 1024 * 1024
"""Size of the parts of a multipart upload, and the object size above which uploads are multipart."""

_MAX_CONCURRENT_PARTS = 4
_EXIT_PAUSE_SECONDS = 0.05
_ENDS_TOO_EARLY = ("InvalidRange", "StartTooLarge")


class ObjectBlobs:
    """Objects in a store of obstore's. `name` identifies the store for people; `explain` words its failures."""

    def __init__(self, store: ObjectStore, name: str, explain: Callable[[Exception], str]) -> None:
        self._store, self._name, self._explain = store, name, explain
        atexit.unregister(_let_threads_finish)  # so that any number of stores costs one pause
        atexit.register(_let_threads_finish)

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        chunks, attributes = as_chunks(data), dict(labels or {})
        with self._trouble():
            if sum(map(len, chunks)) > PART_BYTES:
                await obstore.put_async(
                    self._store,
                    checked_key(key),
                    chunks,
                    attributes=attributes,
                    use_multipart=True,
                    chunk_size=PART_BYTES,
                    max_concurrency=_MAX_CONCURRENT_PARTS,
                )
            else:
                await obstore.put_async(
                    self._store, checked_key(key), b"".join(chunks), attributes=attributes, use_multipart=False
                )

    async def get(self, key: str) -> bytes:
        with self._trouble(checked_key(key)):
            found = await obstore.get_async(self._store, key)
            return bytes(await found.bytes_async())

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        check_range(checked_key(key), offset, length)
        data = await self._range(key, offset, length) if length else b""
        if len(data) != length:
            raise NotFound("object", key, f"object {key!r} ends before byte {offset + length}")
        return data

    async def delete(self, keys: Iterable[str]) -> None:
        if checked := [checked_key(key) for key in keys]:
            with self._trouble():
                await obstore.delete_async(self._store, checked)

    async def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        folder = checked_prefix(prefix)
        found = []
        with self._trouble():
            async for batch in obstore.list(self._store, folder or None, chunk_size=1000):
                found += [BlobInfo(meta["path"], meta["size"]) for meta in batch]
        # Not every S3 server lists in key order: some list folder by folder, which puts 'a/b' before 'a-b'.
        found.sort()
        for info in found:
            yield info

    async def check(self) -> str:
        # List before writing: some servers create a missing bucket, and a mistyped name would go unnoticed.
        with self._trouble():
            async for _ in obstore.list(self._store, chunk_size=1):
                break
        await write_and_read(self, self._name)
        return self._name

    async def _range(self, key: str, offset: int, length: int) -> bytes:
        with self._trouble(key):
            try:
                return bytes(await obstore.get_range_async(self._store, key, start=offset, length=length))
            except BaseError as error:
                if any(word in str(error) for word in _ENDS_TOO_EARLY):
                    return b""
                raise

    @contextmanager
    def _trouble(self, key: str | None = None) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            # obstore raises the same for a missing bucket, and for a server that is no object store.
            if key is None or "NoSuchBucket" in str(error):
                raise Unavailable(self._explain(error)) from error
            raise NotFound("object", key) from None
        except (BaseError, OSError) as error:
            raise Unavailable(self._explain(error)) from error


def open_memory() -> ObjectBlobs:
    """Return a store in the memory of this process."""
    return ObjectBlobs(MemoryStore(), "memory", lambda error: f"objects in memory failed: {error}")


def _let_threads_finish() -> None:
    """Wait for obstore's threads to release the interpreter.

    A thread of obstore's still holds the interpreter for a moment after delivering an answer; interpreter exit during
    that moment aborts the process. Without this wait, one short program in ten ends with SIGABRT.
    """
    time.sleep(_EXIT_PAUSE_SECONDS)
