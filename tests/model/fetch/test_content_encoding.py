"""Bodies are decoded to their exact bytes, or refused."""

import gzip
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.fetch.content_encoding import ACCEPT_ENCODING, MAX_MEMBERS, Undecodable, decode_body
from longline.model.frontier import reasons

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"<p>the same again and again</p>" * 1000
LIMIT = len(TEXT)


def raw_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


def decode(body: bytes, *codings: str, limit: int = LIMIT) -> bytes:
    return decode_body([("Content-Type", "text/html"), *(("content-encoding", c) for c in codings)], body, limit)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}

SKIPPABLE = b"\x5a\x2a\x4d\x18\x04\0\0\0skip"


def zstd_in_pieces(body: bytes, window: int = 20) -> bytes:
    """Compress a text as a streaming server does: no length in the head, and a chosen window."""
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window})
    return b"".join(stream.compress(body[at : at + 9000]) for at in range(0, len(body), 9000)) + stream.flush()


def test_every_accepted_coding_has_an_encoder_in_this_test():
    assert set(ACCEPT_ENCODING.split(", ")) == set(ENCODERS) - {"x-gzip"}


@pytest.mark.parametrize("coding", ACCEPT_ENCODING.split(", "))
def test_every_accepted_coding_is_decoded(coding):
    assert decode(ENCODERS[coding](TEXT), coding) == TEXT


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (TEXT, ()),
        (TEXT, ("identity",)),
        (TEXT, ("",)),
        (TEXT, ("utf-8",)),
        (TEXT, ("none",)),
        (gzip.compress(TEXT), ("GZIP",)),
        (gzip.compress(TEXT), ("x-gzip",)),
        (gzip.compress(TEXT), ("utf-8, gzip",)),
        (raw_deflate(TEXT), ("deflate",)),
        (zlib.compress(gzip.compress(TEXT)), ("gzip, deflate",)),
        (zlib.compress(gzip.compress(TEXT)), ("gzip", "deflate")),
        (gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]), ("gzip",)),
        (gzip.compress(TEXT) + b"\0\0padding", ("gzip",)),
        (brotli.compress(TEXT), ("BR",)),
        (brotli.compress(gzip.compress(TEXT)), ("gzip, br",)),
        (gzip.compress(zstd.compress(brotli.compress(TEXT))), ("br", "zstd, gzip")),
        (zstd_in_pieces(TEXT), ("zstd",)),
        (zstd_in_pieces(TEXT, window=23), ("zstd",)),
        (zstd.compress(TEXT[:100]) + zstd.compress(TEXT[100:]), ("zstd",)),
        (SKIPPABLE + zstd.compress(TEXT), ("zstd",)),
        (zstd.compress(TEXT[:100]) + SKIPPABLE + zstd.compress(TEXT[100:]), ("zstd",)),
        (zstd.compress(TEXT) + b"\0\0padding", ("zstd",)),
    ],
)
def test_bodies_and_codings_that_servers_send_are_decoded(body, codings):
    assert decode(body, *codings) == TEXT


def test_an_empty_body_is_valid():
    assert decode(b"", "gzip") == b""


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (gzip.compress(TEXT)[:-9], "gzip"),
        (gzip.compress(TEXT)[:-8], "gzip"),
        (gzip.compress(TEXT)[:-8] + b"\0" * 8, "gzip"),
        (gzip.compress(TEXT)[:20] + b"\xff" * 20, "gzip"),
        (b"<html>not compressed at all</html>", "gzip"),
        (b"<html>not compressed at all</html>", "deflate"),
        (zlib.compress(TEXT)[:-5], "deflate"),
        (b"\x1b\x03\x00", "br"),
        (brotli.compress(TEXT)[:-1], "br"),
        (brotli.compress(TEXT)[:10] + b"\xff" * 20, "br"),
        (b"<html>not compressed at all</html>", "br"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (zstd.compress(TEXT)[:-1], "zstd"),
        (zstd.compress(TEXT) + zstd.compress(TEXT)[:9], "zstd"),
        (b"<html>not compressed at all</html>", "zstd"),
        (zstd_in_pieces(TEXT, window=24), "zstd"),
        (zstd.compress(b"") * (MAX_MEMBERS + 2), "zstd"),
        (TEXT, "compress"),
        (TEXT, "dcb"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x")))), "gzip, gzip, gzip, gzip"),
        (gzip.compress(b"") * (MAX_MEMBERS + 2), "gzip"),
    ],
)
def test_broken_bodies_are_refused(body, coding):
    with pytest.raises(Undecodable) as failure:
        decode(body, coding)
    assert failure.value.kind == "bad_encoding"
    assert failure.value.kind in reasons.FINAL


BOMB_BYTES = 50_000_000
BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstd.compress,
    "zstd, br": lambda body: brotli.compress(zstd.compress(body)),
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
}


@cache
def bomb(coding: str) -> bytes:
    """Return many zeros in few bytes; they are compressed on demand, because compressing all takes a second."""
    return BOMBS[coding](b"\0" * BOMB_BYTES)


def assert_too_large(body: bytes, coding: str) -> None:
    with pytest.raises(Undecodable) as failure:
        decode(body, coding)
    assert failure.value.kind == "too_large"
    assert failure.value.kind in reasons.FINAL


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (TEXT + b"x", "identity"),
        (gzip.compress(TEXT + b"x"), "gzip"),
        (zlib.compress(TEXT + b"x"), "deflate"),
        (raw_deflate(TEXT + b"x"), "deflate"),
        (gzip.compress(TEXT) + gzip.compress(b"x"), "gzip"),
        (brotli.compress(TEXT + b"x"), "br"),
        (zstd.compress(TEXT + b"x"), "zstd"),
        (zstd_in_pieces(TEXT + b"x"), "zstd"),
        (zstd.compress(TEXT) + zstd.compress(b"x"), "zstd"),
    ],
)
def test_a_body_that_is_a_byte_too_large_is_refused(body, coding):
    assert_too_large(body, coding)


@pytest.mark.parametrize("coding", BOMBS)
def test_bombs_are_refused(coding):
    assert_too_large(bomb(coding), coding)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_refused_before_it_is_unpacked(coding):
    body = bomb(coding)
    tracemalloc.start()
    try:
        with pytest.raises(Undecodable):
            decode(body, coding)
        assert tracemalloc.get_traced_memory()[1] < BOMB_BYTES / 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_bomb_in_many_parts_is_one_bomb(coding):
    limit = 1_000_000
    parts = ENCODERS[coding](b"\0" * limit) * MAX_MEMBERS
    tracemalloc.start()
    try:
        with pytest.raises(Undecodable) as failure:
            decode(parts, coding, limit=limit)
        assert failure.value.kind == "too_large"
        assert tracemalloc.get_traced_memory()[1] < 10 * limit
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=2000), st.sampled_from(sorted(ENCODERS)))
def test_any_bytes_are_encoded_and_decoded_unchanged(body, coding):
    assert decode(ENCODERS[coding](body), coding) == body


@given(st.binary(min_size=1, max_size=300), st.sampled_from(sorted(ENCODERS)))
def test_garbage_is_refused_with_our_message(body, coding):
    with suppress(Undecodable):
        assert len(decode(body, coding, limit=1000)) <= 1000
