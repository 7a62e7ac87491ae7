"""Decoding of a body by its Content-Encoding, with a bound on the output.

Every decoder gets its bound before it starts: a decompression bomb costs no more than the bound.
"""

import sys
from collections.abc import Callable, Iterable
from typing import cast

import brotli
from isal import isal_zlib

from longline.model.errors import LonglineError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""Value of the Accept-Encoding header: exactly the encodings that `decode_body` decodes."""

MAX_LAYERS = 3
MAX_MEMBERS = 64

_BROKEN = (
    cast("type[Exception]", isal_zlib.error),  # the library's stub takes the class for an instance
    cast("type[Exception]", brotli.error),
    zstd.ZstdError,
)
_GZIP, _ZLIB, _RAW = 31, 15, -15
_PIECE = 256
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte of 0x50 to 0x5f; such a frame holds nothing of the body
# RFC 9659: a body on the web may ask for a window of 8 MB and no more.
_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
_UNSUPPORTED = frozenset(("compress", "x-compress", "dcb", "dcz"))


class Undecodable(LonglineError):
    """A body that does not decode; `kind` is `bad_encoding`, or `too_large` for a body beyond its bound."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def decode_body(headers: Iterable[tuple[str, str]], body: bytes, max_bytes: int) -> bytes:
    """Return the decoded body; raise `Undecodable`."""
    layers = _layers(headers)
    if len(layers) > MAX_LAYERS:
        raise Undecodable("bad_encoding", f"encoded {len(layers)} times over")
    for coding in reversed(layers):
        body = _undo(coding, body, max_bytes)
    if len(body) > max_bytes:
        raise Undecodable("too_large", f"more than {max_bytes} bytes")
    return body


def readable(body: bytes, max_bytes: int) -> tuple[bytes, str | None]:
    """Return the readable part of a gzip file and its fault, if any; raise `Undecodable` if no part can be read."""
    try:
        return decode_body([("content-encoding", "gzip")], body, max_bytes), None
    except Undecodable as error:
        start = _start_of(body, max_bytes) if error.kind == "bad_encoding" else b""
        if not start:
            raise
        return start, str(error)


def _start_of(body: bytes, limit: int) -> bytes:
    """Return the output of a broken stream before its broken piece."""
    stream, out = isal_zlib.decompressobj(_GZIP), bytearray()
    for at in range(0, len(body), _PIECE):
        try:
            out += stream.decompress(body[at : at + _PIECE])
        except _BROKEN:
            break
        if stream.eof or len(out) > limit:
            break
    return bytes(out[:limit])


def _layers(headers: Iterable[tuple[str, str]]) -> list[str]:
    values = [value for name, value in headers if name.lower() == "content-encoding"]
    if not values:
        return []
    words = (word.strip().lower() for value in values for word in value.split(","))
    # Servers write all sorts of things here ("utf-8", "none"); like browsers, take unknown words for no encoding.
    return [word for word in words if word in _DECODERS or word in _UNSUPPORTED]


def _undo(coding: str, body: bytes, limit: int) -> bytes:
    if not body:
        return body
    if coding in _UNSUPPORTED:
        raise Undecodable("bad_encoding", f"encoded with {coding}, which was not asked for")
    try:
        return _DECODERS[coding](body, limit)
    except _BROKEN as error:
        raise Undecodable("bad_encoding", f"not valid {coding}: {error}") from None


_Piece = Callable[[bytes, int], tuple[bytes, bytes]]
"""Decoder of the first member of a body, up to a bound: returns the output and the bytes that follow."""


def _gunzip(body: bytes, limit: int) -> bytes:
    return _members(body, limit, _gzip_member, lambda rest: rest.startswith(_GZIP_MAGIC))


def _unzstd(body: bytes, limit: int) -> bytes:
    return _members(body, limit, _zstd_frame, lambda rest: rest.startswith(_ZSTD_MAGIC) or _is_skippable(rest))


def _members(body: bytes, limit: int, piece: _Piece, follows: Callable[[bytes], bool]) -> bytes:
    """Return the output of all members of a stream; bytes after the last are padding, and ignored as browsers do."""
    whole, rest = piece(body, limit)
    for _ in range(MAX_MEMBERS):
        if not follows(rest):
            return whole
        more, rest = piece(rest, limit - len(whole))
        whole += more
    # Each member copies all that follows it: thousands of empty ones would hold the loop for minutes.
    raise Undecodable("bad_encoding", f"more than {MAX_MEMBERS} members")


def _is_skippable(rest: bytes) -> bool:
    return rest[1:4] == _SKIPPABLE and rest[0] & 0xF0 == 0x50


def _gzip_member(body: bytes, limit: int) -> tuple[bytes, bytes]:
    return _inflate(body, _GZIP, limit)


def _zstd_frame(body: bytes, limit: int) -> tuple[bytes, bytes]:
    stream = zstd.ZstdDecompressor(options=_WINDOW)
    out = stream.decompress(body, limit + 1)
    return _whole(out, stream.eof, limit), stream.unused_data


def _inflate_either(body: bytes, limit: int) -> bytes:
    """Decode `deflate`, which is zlib by the standard and raw deflate by some servers."""
    try:
        return _inflate(body, _ZLIB, limit)[0]
    except _BROKEN:
        return _inflate(body, _RAW, limit)[0]


def _inflate(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes]:
    stream = isal_zlib.decompressobj(wbits)
    out = stream.decompress(body, limit + 1)
    return _whole(out, stream.eof, limit), stream.unused_data


def _unbrotli(body: bytes, limit: int) -> bytes:
    stream = brotli.Decompressor()
    # Brotli stops at the first block that reaches the bound, so the output may be a little longer than the bound.
    out = stream.process(body, output_buffer_limit=limit + 1)
    return _whole(out, stream.is_finished(), limit)


def _whole(out: bytes, ended: bool, limit: int) -> bytes:
    if len(out) > limit:
        raise Undecodable("too_large", f"decodes to more than {limit} bytes")
    if not ended:
        raise Undecodable("bad_encoding", "the compressed stream ends early")
    return out


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate_either,
    "br": _unbrotli,
    "zstd": _unzstd,
}
