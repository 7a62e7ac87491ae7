"""Manifests that are uploaded in parts, because they are too large for one request.

An upload is a few objects below one prefix: a note of its sender, the parts, and at the end the answer. Its id is a
UUIDv7, which tells its age, so that uploads need no table.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator
from uuid import UUID

import msgspec

from longline.model.duration import DAY_MS
from longline.model.errors import BadInput, NotFound
from longline.model.ids import new_id
from longline.model.manifests.manifest import ManifestReceipt
from longline.model.object_keys import UPLOADS, upload_note_key, upload_part_key, upload_parts_prefix
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock

log = logging.getLogger(__name__)

PART_BYTES = 5 * 1024 * 1024
"""Largest part."""

MAX_AGE_MS = DAY_MS
"""Age at which an upload is deleted."""

NOUN = "upload"
_TIME_SHIFT = 80
_BATCH_SIZE = 500


class UploadNote(msgspec.Struct, frozen=True):
    """The sender of an upload, and the answer to its manifest once the upload is complete."""

    tenant: str
    receipt: ManifestReceipt | None = None


class StoredPart(msgspec.Struct, frozen=True):
    """A part that was stored, with its digest in hexadecimal digits."""

    number: int
    bytes: int
    sha256: str


class ManifestUploads:
    """The uploads of all senders; an upload is its tenant's alone."""

    def __init__(self, blobs: Blobs, clock: Clock, max_bytes: int) -> None:
        self._blobs, self._clock, self.max_bytes = blobs, clock, max_bytes

    @property
    def max_parts(self) -> int:
        """Return the largest number of a part."""
        return max(1, -(-self.max_bytes // PART_BYTES))

    async def begin(self, tenant: str) -> str:
        """Begin an upload; return its id."""
        upload_id = new_id()
        await self._write(upload_id, UploadNote(tenant))
        return upload_id

    def expires_at(self, upload_id: str) -> int:
        """Return the time at which an upload may be deleted, in milliseconds."""
        return _created_at(upload_id) + MAX_AGE_MS

    async def find(self, upload_id: str, tenant: str) -> UploadNote:
        """Return the note of an upload; raise `NotFound` for one that is unknown, deleted or of another tenant."""
        if _created_at(upload_id) + MAX_AGE_MS < self._clock.now():
            raise NotFound(NOUN, upload_id)
        try:
            note = msgspec.json.decode(await self._blobs.get(upload_note_key(upload_id)), type=UploadNote)
        except NotFound:
            raise NotFound(NOUN, upload_id) from None
        if note.tenant != tenant:
            raise NotFound(NOUN, upload_id)
        return note

    async def put(self, upload_id: str, tenant: str, number: int, data: bytes) -> StoredPart:
        """Store a part, or replace it; raise `BadInput` for a wrong number or a complete upload."""
        note = await self.find(upload_id, tenant)
        if not 1 <= number <= self.max_parts:
            raise BadInput(f"number must be from 1 to {self.max_parts}")
        if note.receipt is not None:
            raise BadInput("the upload is complete")
        await self._blobs.put(upload_part_key(upload_id, number), data)
        return StoredPart(number, len(data), await asyncio.to_thread(_digest, data))

    async def parts(self, upload_id: str) -> AsyncIterator[bytes]:
        """Yield the parts of an upload in order; raise `BadInput` where one is missing."""
        numbers = [int(info.key.rpartition("/")[2]) async for info in self._blobs.list(upload_parts_prefix(upload_id))]
        for place, number in enumerate(numbers, 1):
            if number != place:
                raise BadInput(f"part {place} is missing")
            yield await self._blobs.get(upload_part_key(upload_id, number))
        if not numbers:
            raise BadInput("part 1 is missing")

    async def complete(self, upload_id: str, tenant: str, receipt: ManifestReceipt) -> None:
        """Keep the answer of an upload, and delete its parts."""
        await self._write(upload_id, UploadNote(tenant, receipt))
        await self._delete([info.key async for info in self._blobs.list(upload_parts_prefix(upload_id))])

    async def abort(self, upload_id: str, tenant: str) -> None:
        """Delete an upload; a manifest that was made of it stays."""
        await self.find(upload_id, tenant)
        await self._delete([info.key async for info in self._blobs.list(f"{UPLOADS}/{upload_id}")])

    async def sweep(self) -> int:
        """Delete uploads that are too old; return the number of their objects."""
        before = self._clock.now() - MAX_AGE_MS
        old: list[str] = []
        async for info in self._blobs.list(UPLOADS):
            if _created_at(info.key.split("/")[1]) >= before:
                break  # ids sort by their times
            old.append(info.key)
        await self._delete(old)
        return len(old)

    async def _write(self, upload_id: str, note: UploadNote) -> None:
        await self._blobs.put(
            upload_note_key(upload_id), msgspec.json.encode(note), {"Content-Type": "application/json"}
        )

    async def _delete(self, keys: list[str]) -> None:
        for first in range(0, len(keys), _BATCH_SIZE):
            await self._blobs.delete(keys[first : first + _BATCH_SIZE])


def _created_at(upload_id: str) -> int:
    try:
        found = UUID(upload_id)
    except ValueError:
        raise NotFound(NOUN, upload_id) from None
    if str(found) != upload_id:
        raise NotFound(NOUN, upload_id)
    return found.int >> _TIME_SHIFT


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
