import gzip
import hashlib
import io
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from longline.model.archive.warc import (
    Capture,
    DamagedRecord,
    Original,
    RecordPlace,
    Segment,
    WarcRecord,
    payload_digest,
    read_record,
    response_record,
    revisit_record,
)

HTML = (("Content-Type", "text/html; charset=utf-8"), ("Server", "test"))
AT = 1_767_225_599_007  # 2025-12-31T23:59:59.007Z


def page(**changes: Any) -> Capture:
    known: dict[str, Any] = {
        "url": "https://example.com/a?b=c",
        "fetched_at": AT,
        "status": 200,
        "headers": HTML,
        "body": b"<p>hello",
    }
    return Capture(**{"reason": "OK", "ip": "192.0.2.7", **known, **changes})


def many_pages(count: int) -> Iterator[Capture]:
    random.seed(7)
    words = [f"word{n}" for n in range(500)]
    for number in range(count):
        body = " ".join(random.choices(words, k=number * 3)).encode()
        yield page(url=f"https://example.com/{number}", body=body, fetched_at=AT + number)


def segment_of(captures: Iterable[Capture]) -> Segment:
    segment = Segment()
    for capture in captures:
        segment.add(response_record(capture))
    return segment


def warcio_reads(data: bytes, **options: str) -> list[tuple[int, int, Any, bytes]]:
    """Return (offset, length, record, body) of each record that warcio, the reference reader, finds in the bytes."""
    records = ArchiveIterator(io.BytesIO(data), **options)
    return [
        (records.get_record_offset(), records.get_record_length(), record, body)
        for record in records
        if (body := record.raw_stream.read()) is not None
    ]


def check(path: Path) -> int:
    """Return the exit code of `warcio check`."""
    checker = Checker(SimpleNamespace(inputs=[str(path)], verbose=True))
    return int(checker.process_all())


# One record


def test_a_written_record_is_read_back():
    capture = page()
    record = response_record(capture)
    found = read_record(record.member)
    assert (found.type, found.id, found.url, found.fetched_at) == ("response", record.id, capture.url, AT)
    assert (found.status, found.reason, found.headers, found.body) == (200, "OK", HTML, b"<p>hello")
    assert found.field("warc-ip-address") == "192.0.2.7"
    assert found.field("WARC-Payload-Digest") == record.digest == payload_digest(b"<p>hello")
    assert found.field("no-such-field") is None


def test_a_record_is_warc_1_1_to_the_byte():
    record = response_record(page(), record_id="0190a000-0000-7000-8000-000000000001")
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: test\r\n\r\n<p>hello"
    assert gzip.decompress(record.member).decode() == (
        "WARC/1.1\r\n"
        "WARC-Type: response\r\n"
        "WARC-Record-ID: <urn:uuid:0190a000-0000-7000-8000-000000000001>\r\n"
        "WARC-Date: 2025-12-31T23:59:59.007Z\r\n"
        "WARC-Target-URI: https://example.com/a?b=c\r\n"
        "WARC-IP-Address: 192.0.2.7\r\n"
        "Content-Type: application/http;msgtype=response\r\n"
        f"WARC-Payload-Digest: sha256:{hashlib.sha256(b'<p>hello').hexdigest()}\r\n"
        f"WARC-Block-Digest: sha256:{hashlib.sha256(block).hexdigest()}\r\n"
        f"Content-Length: {len(block)}\r\n"
        "\r\n" + block.decode() + "\r\n\r\n"
    )


def test_records_have_ids_of_their_own():
    ids = [response_record(page()).id for _ in range(3)]
    assert len(set(ids)) == 3
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("Set-Cookie", "a=1")),
        (("X-Latin", "caf\xe9 \xff"), ("X-Empty", ""), ("X-Colons", "a: b: c")),
        (("Content-Length", "8"),),
    ],
    ids=["none", "repeated", "odd text", "right length"],
)
def test_odd_headers_are_read_back_unchanged(headers):
    capture = page(headers=headers)
    member = response_record(capture).member
    assert read_record(member).headers == headers
    [(_, _, seen, body)] = warcio_reads(member, check_digests="raise")
    assert len(seen.http_headers.headers) == len(headers)
    assert body == capture.body


@pytest.mark.parametrize("reason", ["", "Not F\xe4ound", "I'm a teapot"])
def test_any_reason_phrase_is_kept(reason):
    member = response_record(page(status=418, reason=reason)).member
    assert (read_record(member).status, read_record(member).reason) == (418, reason)
    [(_, _, seen, _)] = warcio_reads(member, check_digests="raise")
    assert seen.http_headers.get_statuscode() == "418"


@pytest.mark.parametrize(
    "body",
    [b"", gzip.compress(b"<p>hello" * 500), b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\nWARC/1.1\r\n\r\n", bytes(range(256)) * 99],
    ids=["empty", "gzip", "looks like a record", "binary"],
)
def test_bodies_are_kept_unchanged(body):
    member = response_record(page(body=body, headers=(("Content-Encoding", "gzip"),))).member
    assert read_record(member).body == body
    [(_, _, _, seen)] = warcio_reads(member, check_digests="raise")
    assert seen == body


def test_other_readers_decode_a_gzip_body_by_its_headers():
    member = response_record(page(body=gzip.compress(b"<p>hello"), headers=(("Content-Encoding", "gzip"),))).member
    [record] = [r.content_stream().read() for r in ArchiveIterator(io.BytesIO(member))]
    assert record == b"<p>hello"


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        (
            [("Transfer-Encoding", "chunked")],
            [("X-Archive-Orig-Transfer-Encoding", "chunked"), ("Content-Length", "8")],
        ),
        ([("content-length", "7")], [("X-Archive-Orig-content-length", "7"), ("Content-Length", "8")]),
        (
            [("Content-Length", "8"), ("transfer-encoding", "chunked"), ("A", "b")],
            [
                ("X-Archive-Orig-Content-Length", "8"),
                ("X-Archive-Orig-transfer-encoding", "chunked"),
                ("A", "b"),
                ("Content-Length", "8"),
            ],
        ),
        (
            [("Content-Length", "8"), ("Content-Length", "8")],
            [("X-Archive-Orig-Content-Length", "8"), ("X-Archive-Orig-Content-Length", "8"), ("Content-Length", "8")],
        ),
    ],
    ids=["chunked", "wrong length", "both", "twice"],
)
def test_headers_of_another_framing_are_kept_under_another_name(headers, kept):
    member = response_record(page(headers=tuple(headers))).member
    assert list(read_record(member).headers) == kept
    [record] = [r.content_stream().read() for r in ArchiveIterator(io.BytesIO(member))]
    assert record == b"<p>hello"


def test_no_text_can_add_a_header():
    evil = "x\r\nWARC-Type: warcinfo\nSet-Cookie: y"
    found = read_record(response_record(page(url=evil, reason=evil, headers=(("A", evil), (evil, "b")))).member)
    assert found.type == "response"
    assert len(found.headers) == 2
    assert len(found.fields) == 9
    assert "\n" not in found.url + found.reason


def test_headers_beyond_latin_1_do_not_lose_the_page():
    member = response_record(page(headers=(("X-Title", "日本"),))).member
    assert read_record(member).headers == (("X-Title", "日本".encode().decode("latin-1")),)
    warcio_reads(member, check_digests="raise")


@given(
    status=st.integers(100, 599),
    headers=st.lists(
        st.tuples(
            st.text("abcXYZ-", min_size=1),
            st.text(st.characters(max_codepoint=255, exclude_categories=["Cc", "Zs"])),
        )
    ),
    body=st.binary(max_size=2000),
    at=st.integers(0, 4_102_444_800_000),
)
def test_every_response_is_read_back_unchanged(status, headers, body, at):
    capture = page(status=status, headers=tuple(headers), body=body, fetched_at=at, reason="")
    member = response_record(capture).member
    found = read_record(member)
    assert (found.status, found.headers, found.body, found.fetched_at) == (status, tuple(headers), body, at)
    [(_, _, _, seen)] = warcio_reads(member, check_digests="raise")
    assert seen == body


# Revisits


def test_a_revisit_refers_to_the_page_that_it_repeats():
    first = response_record(page())
    again = page(fetched_at=AT + 86_400_000, headers=(("Transfer-Encoding", "chunked"), *HTML))
    record = revisit_record(again, Original(page().url, AT, first.digest, first.id))
    found = read_record(record.member)
    assert (found.type, found.body, found.status) == ("revisit", b"", 200)
    assert found.field("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert found.field("WARC-Refers-To") == f"<urn:uuid:{first.id}>"
    assert found.field("WARC-Refers-To-Target-URI") == page().url
    assert found.field("WARC-Refers-To-Date") == "2025-12-31T23:59:59.007Z"
    assert found.field("WARC-Payload-Digest") == record.digest == first.digest
    assert found.field("WARC-Date") == "2026-01-01T23:59:59.007Z"
    assert ("Content-Length", "8") in found.headers


def test_a_revisit_after_304_has_the_profile_of_an_unmodified_page():
    headers = (("ETag", '"1"'), ("Content-Length", "8"))
    record = revisit_record(page(status=304, body=b"", headers=headers), Original(page().url, AT, payload_digest(b"x")))
    found = read_record(record.member)
    assert found.field("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert found.field("WARC-Refers-To") is None
    assert (found.status, found.headers, found.body) == (None, (), b""), "a page of status 304 is never shown"
    assert found.field("Content-Length") == "0"
    [(_, _, seen, _)] = warcio_reads(record.member, check_digests="raise")
    assert seen.rec_type == "revisit"


# Segments


def test_warcio_checks_a_segment_of_many_records(tmp_path):
    segment = segment_of(many_pages(120))
    first = response_record(page())
    segment.add(first)
    segment.add(revisit_record(page(), Original(page().url, AT, first.digest, first.id)))
    path = tmp_path / "segment.warc.gz"
    path.write_bytes(bytes(segment))
    assert check(path) == 0
    assert len(warcio_reads(path.read_bytes())) == segment.records == 122


def test_warcio_finds_a_wrong_digest(tmp_path):
    right = gzip.decompress(response_record(page()).member)
    path = tmp_path / "segment.warc.gz"
    path.write_bytes(gzip.compress(right.replace(b"hello", b"hallo")))
    assert check(path) == 1


def test_offsets_and_lengths_of_records_are_those_that_warcio_finds():
    segment = segment_of(many_pages(50))
    data = bytes(segment)
    seen = warcio_reads(data)
    assert [RecordPlace(offset, length) for offset, length, _, _ in seen] == segment.places
    assert sum(place.length for place in segment.places) == segment.size == len(data)
    for place, (_, _, record, body) in zip(segment.places, seen, strict=True):
        found = read_record(data[place.offset : place.offset + place.length])
        assert found.url == record.rec_headers.get_header("WARC-Target-URI")
        assert found.body == body


def test_add_returns_the_offset_and_length_of_the_record():
    segment = Segment()
    first, second = segment.add(WarcRecord("a", "d", b"12345")), segment.add(WarcRecord("b", "d", b"678"))
    assert (first, second) == (RecordPlace(0, 5), RecordPlace(5, 3))
    assert segment.parts == [b"12345", b"678"]


def test_an_empty_segment_is_empty():
    assert (bytes(Segment()), Segment().records, Segment().size) == (b"", 0, 0)


def test_without_removes_records_and_moves_the_others_up():
    segment = segment_of(many_pages(6))
    kept = segment.without({0, 3, 5})
    assert (segment.records, kept.records) == (6, 3)
    data = bytes(kept)
    urls = [read_record(data[place.offset : place.offset + place.length]).url for place in kept.places]
    assert urls == [f"https://example.com/{number}" for number in (1, 2, 4)]
    assert [record.rec_headers.get_header("WARC-Target-URI") for _, _, record, _ in warcio_reads(data)] == urls
    assert bytes(segment.without(())) == bytes(segment)
    assert bytes(segment.without(range(6))) == b""


# Damage


MEMBER = response_record(page(body=b"<p>hello" * 100)).member
PLAIN = gzip.decompress(MEMBER)


def with_status(code: bytes) -> bytes:
    """Return the plain record with another status of the same length."""
    length = int(PLAIN.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
    made = PLAIN.replace(b"HTTP/1.1 200", b"HTTP/1.1 " + code, 1)
    return made.replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + len(code) - 3), 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage, and quite a lot of it",
        MEMBER[:-1],
        MEMBER[: len(MEMBER) // 2],
        MEMBER[1:],
        MEMBER + MEMBER,
        MEMBER + b"x",
        PLAIN,
        gzip.compress(b"WARC/1.1 without an end"),
        gzip.compress(b"HTTP/1.1 200 OK\r\n\r\n"),
        gzip.compress(PLAIN[:-1]),
        gzip.compress(PLAIN[:-2]),
        gzip.compress(PLAIN.replace(b"<p>hello", b"<p>", 1)),
        gzip.compress(PLAIN.replace(b"HTTP/1.1 200", b"HTTP/1.1 2x0")),
        gzip.compress(with_status(b"2" * 5_000)),
        gzip.compress(PLAIN.replace(b"2025-12-31T", b"2025-13-31T")),
    ],
)
def test_bytes_that_are_no_record_are_refused_with_a_reason(data):
    with pytest.raises(DamagedRecord, match=r"\w+ \w+"):
        read_record(data)


def test_every_flipped_bit_is_detected():
    whole = read_record(MEMBER)
    for number in range(10, len(MEMBER)):  # earlier bits are in the gzip header, where some have no meaning
        flipped = MEMBER[:number] + bytes([MEMBER[number] ^ 0x10]) + MEMBER[number + 1 :]
        try:
            assert read_record(flipped) == whole
        except DamagedRecord:
            continue


def test_records_of_other_types_are_read_too():
    fields = (
        "WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: 2025-12-31T23:59:59Z\r\nContent-Type: application/warc-fields"
    )
    found = read_record(gzip.compress(f"{fields}\r\nContent-Length: 4\r\n\r\na: b\r\n\r\n".encode()))
    assert (found.type, found.status, found.body, found.fetched_at) == ("warcinfo", None, b"a: b", AT - 7)
