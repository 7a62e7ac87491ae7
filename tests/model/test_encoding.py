"""Bodies come out as they went in, or not at all."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model import fate
from longline.model.encoding import ACCEPT_ENCODING, MAX_MEMBERS, Undecodable, decode_body

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
}


@pytest.mark.parametrize("coding", ACCEPT_ENCODING.split(", "))
def test_everything_we_ask_for_decodes(coding):
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
    ],
)
def test_what_servers_send(body, codings):
    assert decode(body, *codings) == TEXT


def test_no_body_is_no_fault():
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
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x")))), "gzip, gzip, gzip, gzip"),
        (gzip.compress(b"") * (MAX_MEMBERS + 2), "gzip"),
    ],
)
def test_broken_bodies(body, coding):
    with pytest.raises(Undecodable) as failure:
        decode(body, coding)
    assert failure.value.kind == "bad_encoding"
    assert failure.value.kind in fate.FINAL


BOMB = b"\0" * 50_000_000


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (TEXT + b"x", "identity"),
        (gzip.compress(TEXT + b"x"), "gzip"),
        (zlib.compress(TEXT + b"x"), "deflate"),
        (raw_deflate(TEXT + b"x"), "deflate"),
        (gzip.compress(TEXT) + gzip.compress(b"x"), "gzip"),
        (gzip.compress(BOMB), "gzip"),
        (gzip.compress(gzip.compress(BOMB)), "gzip, gzip"),
    ],
)
def test_bombs_are_refused(body, coding):
    with pytest.raises(Undecodable) as failure:
        decode(body, coding)
    assert failure.value.kind == "too_large"
    assert failure.value.kind in fate.FINAL


def test_a_bomb_is_not_even_unpacked():
    bomb = gzip.compress(BOMB)
    tracemalloc.start()
    try:
        with pytest.raises(Undecodable):
            decode(bomb, "gzip")
        assert tracemalloc.get_traced_memory()[1] < len(BOMB) / 10
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=2000), st.sampled_from(sorted(ENCODERS)))
def test_any_bytes_come_back(body, coding):
    assert decode(ENCODERS[coding](body), coding) == body


@given(st.binary(min_size=1, max_size=300), st.sampled_from(sorted(ENCODERS)))
def test_garbage_is_refused_in_our_words(body, coding):
    with suppress(Undecodable):
        decode(body, coding)
