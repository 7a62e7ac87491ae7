"""The body of a file, piece by piece: counted, digested, resumed after a break, and checked at its end."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from email.utils import parsedate_to_datetime

import msgspec

from longline.engine.fetch.request_sender import TimedStream
from longline.model.fetch.credentials import Headers
from longline.ports.http import FetchFailed, Response

RESUMABLE = frozenset({"reset", "truncated", "idle_timeout", "network", "proxy_failed"})
"""Failures after which the rest of a file is requested."""

MAX_RESUMES = 5
"""Largest number of requests for the rest of a file in one attempt; each needs progress since the one before."""

THREADED_BYTES = 64 * 1024
"""Size from which a piece is digested in a thread."""

STRONG_DATE_SECONDS = 60.0
"""Age from which a Last-Modified is a strong validator (RFC 9110, section 8.8.2.2)."""

PARTIAL = 206
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")

Reopen = Callable[[Headers], Awaitable[TimedStream]]
"""A function that requests the file again, with further headers."""


class FileLimits(msgspec.Struct, frozen=True):
    """The largest accepted size of a file, and its expected digest in hexadecimal digits, if one is known.

    `head_bytes` is the number of first bytes that are kept.
    """

    max_bytes: int
    sha256: str | None = None
    head_bytes: int = 0


class FileStream:
    """A file on its way. `last_look` is called after the last piece and may raise an error, which abandons the file."""

    def __init__(
        self, opened: TimedStream, reopen: Reopen, limits: FileLimits, last_look: Callable[[], None] = lambda: None
    ) -> None:
        self._opened, self._reopen, self._limits, self._last_look = opened, reopen, limits, last_look
        self._first, self.total_bytes = opened.stream.head, opened.stream.content_length
        self._digest = hashlib.sha256()
        self._resumed_at, self.resumes = 0, 0
        self.bytes, self.sha256, self.head = 0, "", bytearray()

    async def pieces(self) -> AsyncIterator[memoryview]:
        """Yield the file; raise `FetchFailed` unless it is whole and has the expected digest."""
        if self.total_bytes is not None and self.total_bytes > self._limits.max_bytes:
            raise FetchFailed("too_large", f"{self.total_bytes} bytes, more than {self._limits.max_bytes}")
        while True:
            try:
                async for piece in self._opened.stream.pieces():
                    await self._count(piece)
                    yield piece
                self._check_length()
                break
            except FetchFailed as failed:
                await self._resume(failed)
        self._check_digest()
        self._last_look()

    async def close(self) -> None:
        """Close the connection, unless the file was read to its end."""
        await self._opened.stream.close()

    async def _count(self, piece: memoryview) -> None:
        self.bytes += len(piece)
        if len(self.head) < self._limits.head_bytes:
            self.head += piece[: self._limits.head_bytes - len(self.head)]
        if self.bytes > self._limits.max_bytes:
            raise FetchFailed("too_large", f"more than {self._limits.max_bytes} bytes")
        if len(piece) < THREADED_BYTES:
            self._digest.update(piece)
        else:
            await asyncio.to_thread(self._digest.update, piece)

    def _check_length(self) -> None:
        if self.total_bytes is not None and self.bytes != self.total_bytes:
            raise FetchFailed("truncated", f"{self.bytes} bytes came, {self.total_bytes} were announced")

    def _check_digest(self) -> None:
        self.sha256 = self._digest.hexdigest()
        expected = self._limits.sha256
        if expected is not None and self.sha256 != expected:
            raise FetchFailed("checksum", f"the digest is sha256:{self.sha256}, expected was sha256:{expected}")

    async def _resume(self, failed: FetchFailed) -> None:
        """Request the rest of the file after a failure; raise the failure where the rest cannot be had."""
        validator = strong_validator(self._first)
        progress = self.bytes > self._resumed_at
        if failed.kind not in RESUMABLE or validator is None or not progress or self.resumes >= MAX_RESUMES:
            raise failed
        self._resumed_at, self.resumes = self.bytes, self.resumes + 1
        await self._opened.stream.close()
        try:
            self._opened = await self._reopen((("range", f"bytes={self.bytes}-"), ("if-range", validator)))
        except FetchFailed:
            raise failed from None
        if not self._continues(self._opened.stream.head):
            raise failed

    def _continues(self, head: Response) -> bool:
        """Return whether a response has the bytes that are missing, of the same file."""
        place = _CONTENT_RANGE.fullmatch((head.header("content-range") or "").strip())
        if head.status != PARTIAL or place is None or int(place[1]) != self.bytes:
            return False
        if place[2] == "*":
            return True
        self.total_bytes = int(place[2]) if self.total_bytes is None else self.total_bytes
        return int(place[2]) == self.total_bytes


def strong_validator(head: Response) -> str | None:
    """Return the validator by which the rest of a file can be requested: a strong ETag, or a date that is old enough.

    None for a host that serves no ranges.
    """
    if (head.header("accept-ranges") or "").strip().lower() == "none":
        return None
    etag = (head.header("etag") or "").strip()
    if etag:
        return etag if etag.startswith('"') else None
    modified, answered = head.header("last-modified") or "", head.header("date") or ""
    try:
        age = parsedate_to_datetime(answered).timestamp() - parsedate_to_datetime(modified).timestamp()
    except (ValueError, OverflowError):
        return None
    return modified if age >= STRONG_DATE_SECONDS else None
