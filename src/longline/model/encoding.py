"""Undoes the Content-Encoding of a body, with a bound on what may come out."""

from collections.abc import Iterable
from typing import cast

from isal import isal_zlib

from longline.model.errors import LonglineError

ACCEPT_ENCODING = "gzip, deflate"
"""What we may ask for: exactly what `decode_body` undoes."""

MAX_LAYERS = 3
MAX_MEMBERS = 64

_BROKEN = cast("type[Exception]", isal_zlib.error)  # the library's stub takes the class for an instance
_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIP_MAGIC = b"\x1f\x8b"
_UNSUPPORTED = frozenset(("br", "zstd", "compress", "x-compress", "dcb", "dcz"))


class Undecodable(LonglineError):
    """A body that does not decode; `kind` is `bad_encoding`, or `too_large` for one that swells beyond its bound."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def decode_body(headers: Iterable[tuple[str, str]], body: bytes, max_bytes: int) -> bytes:
    """The body as its author wrote it."""
    layers = _layers(headers)
    if len(layers) > MAX_LAYERS:
        raise Undecodable("bad_encoding", f"encoded {len(layers)} times over")
    for coding in reversed(layers):
        body = _undo(coding, body, max_bytes)
    if len(body) > max_bytes:
        raise Undecodable("too_large", f"more than {max_bytes} bytes")
    return body


def _layers(headers: Iterable[tuple[str, str]]) -> list[str]:
    values = (value for name, value in headers if name.lower() == "content-encoding")
    words = (word.strip().lower() for value in values for word in value.split(","))
    # Servers write all sorts of things here ("utf-8", "none"); like browsers, take unknown words for no encoding.
    known = ("gzip", "x-gzip", "deflate", *_UNSUPPORTED)
    return [word for word in words if word in known]


def _undo(coding: str, body: bytes, limit: int) -> bytes:
    if not body:
        return body
    if coding in _UNSUPPORTED:
        raise Undecodable("bad_encoding", f"encoded with {coding}, which was not asked for")
    try:
        return _gunzip(body, limit) if coding.endswith("gzip") else _inflate_either(body, limit)
    except _BROKEN as error:
        raise Undecodable("bad_encoding", f"not valid {coding}: {error}") from None


def _gunzip(body: bytes, limit: int) -> bytes:
    """All members of a gzip stream; what follows the last one is padding, and ignored as browsers do."""
    whole, rest = _inflate(body, _GZIP, limit)
    for _ in range(MAX_MEMBERS):
        if not rest.startswith(_GZIP_MAGIC):
            return whole
        more, rest = _inflate(rest, _GZIP, limit - len(whole))
        whole += more
    # Each member copies all that follows it: thousands of empty ones would hold the loop for minutes.
    raise Undecodable("bad_encoding", f"gzip of more than {MAX_MEMBERS} members")


def _inflate_either(body: bytes, limit: int) -> bytes:
    """`deflate` is zlib by the standard and raw deflate by some servers."""
    try:
        return _inflate(body, _ZLIB, limit)[0]
    except _BROKEN:
        return _inflate(body, _RAW, limit)[0]


def _inflate(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes]:
    stream = isal_zlib.decompressobj(wbits)
    out = stream.decompress(body, limit + 1)
    if len(out) > limit:
        raise Undecodable("too_large", f"decodes to more than {limit} bytes")
    if not stream.eof:
        raise Undecodable("bad_encoding", "the compressed stream ends early")
    return out, stream.unused_data
