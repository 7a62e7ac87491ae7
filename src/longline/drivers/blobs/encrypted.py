"""Objects that are encrypted before they are stored: AES-256-GCM with a key of the operator.

An encrypted object is a mark, a nonce and the ciphertext with its tag. The key of the object is authenticated with it,
so that one object cannot stand in the place of another. An object without the mark was stored before there was a key,
and is returned as it is; no JSON document begins with the mark.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from longline.drivers.blobs.key_rules import as_chunks, check_range
from longline.model.errors import NotFound, Unavailable
from longline.ports.blobs import BlobInfo, Blobs

MARK = b"\x00longline aes-256-gcm 1\x00"
NONCE_BYTES = 12
LABEL = {"Content-Type": "application/octet-stream", "encryption": "longline-aes-256-gcm-1"}
_SALT = b"longline objects 1"


class EncryptedBlobs:
    """An object store whose objects only processes with the same key can read; without a key none is encrypted."""

    def __init__(self, blobs: Blobs, key: str) -> None:
        self._blobs, self._key = blobs, key

    @cached_property
    def _cipher(self) -> AESGCM:
        # The salt is fixed: every process with the same text must derive the same key.
        return AESGCM(hashlib.scrypt(self._key.encode(), salt=_SALT, n=2**14, r=8, p=1, dklen=32))

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        if self._key:
            data = await asyncio.to_thread(self._encrypt, key, b"".join(as_chunks(data)))
            labels = {**(labels or {}), **LABEL}
        await self._blobs.put(key, data, labels)

    async def get(self, key: str) -> bytes:
        data = await self._blobs.get(key)
        return await asyncio.to_thread(self._decrypt, key, data) if data.startswith(MARK) else data

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        check_range(key, offset, length)
        data = await self.get(key)
        if offset + length > len(data):
            raise NotFound("object", key, f"object {key!r} ends before byte {offset + length}")
        return data[offset : offset + length]

    async def delete(self, keys: Iterable[str]) -> None:
        await self._blobs.delete(keys)

    def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        return self._blobs.list(prefix)

    async def check(self) -> str:
        return await self._blobs.check()

    def _encrypt(self, key: str, data: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return MARK + nonce + self._cipher.encrypt(nonce, data, key.encode())

    def _decrypt(self, key: str, data: bytes) -> bytes:
        if not self._key:
            raise Unavailable(f"object {key!r} is encrypted, and storage.client_side_key is not set")
        nonce, sealed = data[len(MARK) : len(MARK) + NONCE_BYTES], data[len(MARK) + NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, key.encode())
        except (InvalidTag, ValueError):
            raise Unavailable(f"object {key!r} cannot be read: it has another key, or was changed") from None
