"""Bodies of requests, read piece by piece: inflated as they arrive, and given up one byte over the limit."""

import zlib
from collections.abc import AsyncIterator

from longline.surfaces.manifests.errors import TOO_LARGE, invalid
from longline.surfaces.operation import ApiFailure
from longline.surfaces.server.request_limits import MAX_BODY_BYTES

_GZIP = 16 + zlib.MAX_WBITS
_PIECE_BYTES = 65_536


async def read_body(
    pieces: AsyncIterator[bytes], *, is_gzip: bool, max_bytes: int, max_sent: int = MAX_BODY_BYTES
) -> bytes:
    """Return a body after decompression; raise `ApiFailure` for one that is too large, or for broken gzip data."""
    inflate = _Inflation(max_bytes) if is_gzip else None
    found, sent = bytearray(), 0
    async for piece in pieces:
        sent += len(piece)
        found += piece if inflate is None else inflate.take(piece, len(found))
        if len(found) > max_bytes or sent > max_sent:
            raise ApiFailure(TOO_LARGE)
    if inflate is not None:
        inflate.check_end()
    return bytes(found)


class _Inflation:
    """The decompression of a gzip body, which may have several members."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False

    def take(self, piece: bytes, found: int) -> bytes:
        """Return the data of a piece, at most one byte over the limit; `found` bytes were returned before."""
        out, rest = bytearray(), piece
        while rest and found + len(out) <= self._max_bytes:
            self._begun = True
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            room = self._max_bytes + 1 - found - len(out)
            try:
                out += self._member.decompress(rest, min(room, _PIECE_BYTES))
            except zlib.error as error:
                raise ApiFailure(invalid("Content-Encoding: the body is not valid gzip data")) from error
            rest = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        return bytes(out)

    def check_end(self) -> None:
        """Raise `ApiFailure` for a body that ends inside of a member, or has none."""
        if not self._begun or not self._member.eof:
            raise ApiFailure(invalid("Content-Encoding: the gzip data is truncated"))
