"""Objects that come piece by piece into a store of obstore's.

A small object waits in memory for its end and is sent by one request. A large one is sent in parts, which the store
drops unless the object is completed: obstore aborts the parts when its source of pieces raises an error, but not when
its own task is cancelled. The pieces therefore go through a queue, the end of which can raise an error at any time.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import obstore
from obstore.store import ObjectStore as Store

from longline.drivers.blobs.key_rules import checked_key
from longline.model.errors import UploadRefused
from longline.ports.blobs import Labels

if TYPE_CHECKING:  # it exists for type checkers only
    from obstore import PutResult

PART_BYTES = 5 * 1024 * 1024
"""Size of a part, the smallest that S3 takes, and of the largest object that is sent by one request."""

UNCOUNTED_BYTES = 256 * 1024
"""Size up to which any number of objects may wait in memory."""

MAX_BUFFERED_OBJECTS = 6
"""Largest number of objects with more bytes in memory: for each, a part that is filled and a part that is sent.

The sources of further objects are not read until one of these is stored.
"""

MAX_LABELS_BYTES = 8 * 1024
"""Largest size of the labels of an object as headers, which is S3's limit of all headers of a request.

A server closes the connection at many more, as if it were away.
"""

_LABEL_OVERHEAD_BYTES = len("x-amz-meta-: \r\n")

Piece = bytes | memoryview

_END = None
_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_TOKEN = "!#$%&'*+-.^_`|~"
"""Characters of the names of headers besides letters and digits (RFC 9110, section 5.6.2)."""


class _Abandoned(Exception):
    """The end of the pieces of an object that is given up."""


Pieces = asyncio.Queue[Piece | _Abandoned | None]
"""The pieces between a source and obstore, with the end or the abandonment of the object as the last."""


class ObjectUploads:
    """The objects that are on their way into one store."""

    def __init__(self, store: Store, slots: asyncio.Semaphore) -> None:
        self._store, self._slots = store, slots

    async def upload(self, key: str, pieces: AsyncIterable[Piece], labels: Labels | None) -> int:
        """Store an object; return its number of bytes."""
        checked_key(key)
        held: list[Piece] = []
        size, rest = 0, aiter(pieces)
        async for piece in rest:
            held.append(piece)
            size += len(piece)
            if size > UNCOUNTED_BYTES:
                async with self._slots:
                    return await self._buffered(key, held, rest, labels)
        return await self._put(key, held, labels)

    async def _buffered(self, key: str, held: list[Piece], rest: AsyncIterator[Piece], labels: Labels | None) -> int:
        size = sum(map(len, held))
        async for piece in rest:
            held.append(piece)
            size += len(piece)
            if size > PART_BYTES:
                return await self._send_parts(key, held, rest, labels)
        return await self._put(key, held, labels)

    async def _put(self, key: str, held: list[Piece], labels: Labels | None) -> int:
        data = b"".join(held)
        attributes = _attributes(labels)
        await obstore.put_async(self._store, key, data, attributes=attributes, use_multipart=False)
        return len(data)

    async def _send_parts(self, key: str, held: list[Piece], rest: AsyncIterator[Piece], labels: Labels | None) -> int:
        queue: Pieces = asyncio.Queue(1)
        sending = asyncio.ensure_future(
            obstore.put_async(
                self._store,
                key,
                _read(queue),
                attributes=_attributes(labels),
                use_multipart=True,
                chunk_size=PART_BYTES,
                max_concurrency=1,
            )
        )
        size = 0
        try:
            while held:
                size += len(held[0])
                await _until(sending, queue, held.pop(0))
            async for piece in rest:
                size += len(piece)
                await _until(sending, queue, piece)
            await _until(sending, queue, _END)
            await asyncio.shield(sending)
        except BaseException:
            await _abandon(sending, queue)
            raise
        return size


async def _read(queue: Pieces) -> AsyncIterator[Piece]:
    while (piece := await queue.get()) is not _END:
        if isinstance(piece, _Abandoned):
            raise piece
        yield piece


async def _until(sending: "asyncio.Future[PutResult]", queue: Pieces, piece: Piece | None) -> None:
    """Hand a piece over, unless the sending fails before it is taken."""
    handing = asyncio.ensure_future(queue.put(piece))
    both: set[asyncio.Future[Any]] = {handing, sending}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if sending.done() and sending.exception() is not None:
        handing.cancel()
        sending.result()


async def _abandon(sending: "asyncio.Future[PutResult]", queue: Pieces) -> None:
    """Let the sending fail, and wait until the store has dropped the parts."""
    if sending.done():
        return
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(_Abandoned("the object was given up"))
    await asyncio.wait({sending})
    if not sending.cancelled():
        sending.exception()  # marks the error as seen


def ascii_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels as S3 takes them, as headers in printable ASCII: other characters are percent-encoded.

    The library of the object store panics at a name or a value that no header can have.
    """
    return {_encoded(name, _TOKEN): _encoded(value, _ASCII) for name, value in labels.items()}


def _attributes(labels: Labels | None) -> dict[str, str]:
    """Return the labels of an upload; raise `UploadRefused` for labels that no request can carry."""
    found = ascii_labels(labels() if labels else {})
    size = sum(len(name) + len(value) + _LABEL_OVERHEAD_BYTES for name, value in found.items())
    if size > MAX_LABELS_BYTES:
        raise UploadRefused(f"the labels of the object have {size} bytes, more than {MAX_LABELS_BYTES}", is_final=True)
    return found


def is_panic(error: Exception) -> bool:
    """Return whether the library of the object store has panicked, as it will again at the same object."""
    # The class is in no module that can be imported.
    return type(error).__name__ == "RustPanic"


def _encoded(text: str, plain: str) -> str:
    return quote(text, plain, errors="replace")
