"""Objects through obstore: memory and S3."""

import asyncio
import atexit
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import obstore
from obstore.exceptions import BaseError
from obstore.store import MemoryStore, ObjectStore

from longline.drivers.blobs.key_rules import as_chunks, check_range, checked_bucket, checked_key, checked_prefix
from longline.drivers.blobs.object_uploads import MAX_BUFFERED_OBJECTS, ObjectUploads, ascii_labels, is_panic
from longline.drivers.blobs.self_test import write_and_read
from longline.model.errors import NotFound, Unavailable, UploadRefused
from longline.ports.blobs import BlobInfo, Labels

PART_BYTES = 8 * 1024 * 1024
"""Size of the parts of a multipart upload, and the object size above which uploads are multipart."""

_MAX_CONCURRENT_PARTS = 4
_EXIT_PAUSE_SECONDS = 0.05
_ENDS_TOO_EARLY = ("InvalidRange", "StartTooLarge")


@dataclass(frozen=True, slots=True)
class StoreTraits:
    """The traits of a store: `name` is for people, `explain` words a failure, and `open_bucket` opens another bucket.

    `is_final` judges an error of an upload: True for a refusal, False for a failure that another attempt may cure, None
    for a store that cannot be reached.
    """

    name: str
    explain: Callable[[Exception], str]
    open_bucket: "Callable[[str], ObjectBlobs]"
    is_final: Callable[[Exception], bool | None] = lambda _: None


class ObjectBlobs:
    """Objects in a store of obstore's; `slots` bounds the uploads of this store and its other buckets."""

    def __init__(self, store: ObjectStore, traits: StoreTraits, slots: asyncio.Semaphore | None = None) -> None:
        self._store, self._traits = store, traits
        self._name, self._explain = traits.name, traits.explain
        self.slots = slots or asyncio.Semaphore(MAX_BUFFERED_OBJECTS)
        self._uploads = ObjectUploads(store, self.slots)
        self._buckets: dict[str, ObjectBlobs] = {}
        atexit.unregister(_let_threads_finish)  # so that any number of stores costs one pause
        atexit.register(_let_threads_finish)

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        chunks, attributes = as_chunks(data), ascii_labels(labels or {})
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

    async def upload(self, key: str, pieces: AsyncIterable[bytes | memoryview], labels: Labels | None = None) -> int:
        try:
            return await self._uploads.upload(key, pieces, labels)
        except (BaseError, OSError) as error:
            is_final = self._traits.is_final(error)
            if is_final is None:
                raise Unavailable(self._explain(error)) from error
            raise UploadRefused(self._explain(error), is_final=is_final) from error
        except Exception as error:
            # The pieces have errors of their own, which the caller knows.
            if not is_panic(error):
                raise
            raise UploadRefused(self._explain(error), is_final=True) from error

    def bucket(self, name: str) -> "ObjectBlobs":
        if name not in self._buckets:
            self._buckets[name] = self._traits.open_bucket(checked_bucket(name))
        return self._buckets[name]

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
    traits = StoreTraits("memory", lambda error: f"objects in memory failed: {error}", lambda _: open_memory())
    return ObjectBlobs(MemoryStore(), traits)


def _let_threads_finish() -> None:
    """Wait for obstore's threads to release the interpreter.

    A thread of obstore's still holds the interpreter for a moment after delivering an answer; interpreter exit during
    that moment aborts the process. Without this wait, one short program in ten ends with SIGABRT.
    """
    time.sleep(_EXIT_PAUSE_SECONDS)
