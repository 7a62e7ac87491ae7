import asyncio
import io
import threading

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator

from longline.engine.archive.page_records import KeptRedirect, PageToKeep, RecordBuilder, keep_page
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.engine.fetch.request_sender import TimedResponse
from longline.model.archive.warc import WarcRecord, read_record, verified_record
from longline.model.errors import Unavailable
from longline.model.frontier.task import PageFacts
from longline.model.object_keys import segment_key
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import OWNER, FakeBlobs, FakeSegments, Journal, part, response


@pytest.fixture
def journal() -> Journal:
    return []


@pytest.fixture
def blobs(journal: Journal) -> FakeBlobs:
    return FakeBlobs(journal)


@pytest.fixture
def segments(journal: Journal) -> FakeSegments:
    return FakeSegments(journal)


@pytest.fixture
def keeper(blobs: FakeBlobs, segments: FakeSegments, clock: FakeClock) -> SegmentWriter:
    return SegmentWriter(part(blobs), part(segments), clock, OWNER)


def kept(number: int, title: str = "") -> PageToKeep:
    url = f"https://a.example/{number}"
    answer = response(url, body=b"<p>%d</p>" % number, headers=(("Content-Type", "text/html"), ("ETag", '"e"')))
    page = keep_page(Fetched("ok", START + number, answer, answer.body, 200), title)
    assert page
    return page


def uris(data: bytes) -> list[str]:
    """Return the URLs that another WARC reader finds in a segment behind its warcinfo record."""
    first, *others = ArchiveIterator(io.BytesIO(data))
    assert first.rec_type == "warcinfo"
    return [r.rec_headers.get_header("WARC-Target-URI") for r in others]


async def test_pages_can_be_read_back_one_by_one(keeper: SegmentWriter, blobs: FakeBlobs):
    stored = await keeper.write([kept(n) for n in range(3)])
    data = blobs.objects[stored.key]
    assert uris(data) == [f"https://a.example/{n}" for n in range(3)]
    assert (stored.written.records, stored.written.bytes) == (3, len(data))
    for number, facts in enumerate(stored.facts):
        record = read_record(await blobs.get_range(stored.key, facts.start, facts.length))
        assert (record.url, facts.url) == (f"https://a.example/{number}",) * 2


async def test_a_segment_begins_with_the_program_that_wrote_it(
    blobs: FakeBlobs, segments: FakeSegments, clock: FakeClock
):
    keeper = SegmentWriter(
        part(blobs), part(segments), clock, OWNER, {"software": "longline/9", "http-header-user-agent": "us"}
    )
    stored = await keeper.write([kept(1)])
    data = blobs.objects[stored.key]
    info = verified_record(data[: stored.facts[0].start])
    assert (info.type, info.field("WARC-Filename")) == ("warcinfo", stored.key.rpartition("/")[2])
    lines = dict(line.split(": ", 1) for line in info.body.decode().splitlines())
    assert lines.items() >= {"software": "longline/9", "http-header-user-agent": "us"}.items()
    assert lines["format"] == "WARC File Format 1.1"


def sent(path: str, status: int, *, ip: str | None = None) -> TimedResponse:
    answer = response(f"https://a.example{path}", status, b"", (("Location", "/next"),))
    return TimedResponse(START, msgspec.structs.replace(answer, ip=ip), (("user-agent", "us"), ("accept", "*/*")))


async def test_redirects_have_records_of_their_own(keeper: SegmentWriter, blobs: FakeBlobs):
    hops = [KeptRedirect(7, number, sent(f"/{number}", 301 + number, ip="192.0.2.1")) for number in range(2)]
    stored = await keeper.write([], hops)
    assert stored.written.records == 0, "redirects are not pages"
    for number, facts in enumerate(stored.redirects):
        record = verified_record(await blobs.get_range(stored.key, facts.start, facts.length))
        assert (record.url, record.status) == (f"https://a.example/{number}", 301 + number) == (facts.url, facts.status)
        assert record.field("WARC-IP-Address") == "192.0.2.1"
        assert (facts.task_id, facts.number, facts.digest) == (7, number, record.field("WARC-Payload-Digest"))


async def test_requests_are_kept_with_the_setting(blobs: FakeBlobs, segments: FakeSegments, clock: FakeClock):
    page, hop = sent("/page?q=1", 200, ip="192.0.2.1"), sent("/old", 301)
    fetched = Fetched("ok", START, page.response, b"", 200, exchanges=(hop, page))
    one = keep_page(fetched, "")
    assert one
    redirects = [KeptRedirect(7, 0, hop) for hop in fetched.redirects]
    keeper = SegmentWriter(part(blobs), part(segments), clock, OWNER, requests=True)
    stored = await keeper.write([one], redirects)
    found = [(r.rec_type, r) for r in ArchiveIterator(io.BytesIO(blobs.objects[stored.key]), no_record_parse=False)]
    assert [kind for kind, _ in found] == ["warcinfo", "response", "request", "response", "request"]
    for (_, answer), (_, asked) in ((found[1], found[2]), (found[3], found[4])):
        assert asked.rec_headers["WARC-Concurrent-To"] == answer.rec_headers["WARC-Record-ID"]
        assert asked.rec_headers["WARC-Target-URI"] == answer.rec_headers["WARC-Target-URI"]
    assert found[4][1].http_headers.statusline == "/page?q=1 HTTP/1.1"
    assert found[4][1].http_headers.get_header("host") == "a.example"
    assert found[4][1].http_headers.get_header("user-agent") == "us"
    plain = await SegmentWriter(part(blobs), part(segments), clock, OWNER).write([one], redirects)
    assert (
        b"".join(r.rec_type[:3].encode() for r in ArchiveIterator(io.BytesIO(blobs.objects[plain.key]))) == b"warresres"
    )


async def test_the_owner_of_a_segment_is_stored_before_its_bytes(
    keeper: SegmentWriter, journal: Journal, segments: FakeSegments
):
    stored = await keeper.write([kept(1)])
    assert journal == [("begin", stored.key), ("put", stored.key)]
    assert [(row.owner, row.state) for row in segments.rows.values()] == [(OWNER, "writing")]


async def test_a_segment_is_rewritten_with_exactly_the_remaining_pages(keeper: SegmentWriter, blobs: FakeBlobs):
    pages = [kept(n) for n in range(4)]
    before = await keeper.write(pages)
    after = await keeper.rewrite(before, [pages[0], pages[3]])
    assert (after.key, after.written.segment_id) == (before.key, before.written.segment_id)
    assert list(blobs.objects) == [before.key]
    assert uris(blobs.objects[after.key]) == ["https://a.example/0", "https://a.example/3"]
    assert after.facts[1].start == after.facts[0].start + after.facts[0].length
    assert after.written.records == 2


async def test_a_discarded_segment_leaves_nothing(keeper: SegmentWriter, blobs: FakeBlobs, segments: FakeSegments):
    await keeper.discard(await keeper.write([kept(1)]))
    assert (blobs.objects, segments.rows) == ({}, {})


async def test_segments_without_a_report_are_deleted(keeper: SegmentWriter, blobs: FakeBlobs, segments: FakeSegments):
    named, unnamed = await keeper.write([kept(1)]), await keeper.write([kept(2)])
    segments.name(named.written.segment_id, 1, named.written.bytes)
    other = await SegmentWriter(part(blobs), part(segments), FakeClock(), OWNER + 1).write([kept(3)])
    blobs.away = True
    with pytest.raises(Unavailable):
        await keeper.write([kept(4)])  # begun, never put
    blobs.away = False
    await keeper.clear()
    assert set(blobs.objects) == {named.key, other.key}
    assert unnamed.key not in {row.key for row in segments.rows.values()}
    assert len(segments.rows) == 2


def test_keys_are_in_the_order_of_time_and_unique():
    first, second, third = segment_key(START), segment_key(START), segment_key(START + 86_400_000)
    assert first != second
    assert max(first, second) < third
    assert first.startswith("warc/2023/11/14/221320-")


# -- ahead of the report ----------------------------------------------------------------------------------------------


class Watched(PageToKeep, frozen=True):
    """A page that keeps the threads in which its record was made, and may fail."""

    threads: list[int] = msgspec.field(default_factory=list)
    fails: bool = False

    def _make(self) -> tuple[WarcRecord, PageFacts]:
        self.threads.append(threading.get_ident())
        if self.fails:
            raise ValueError("no record of this")
        return super()._make()


def watched(number: int, *, fails: bool = False) -> Watched:
    page = kept(number)
    return Watched(page.fetched, page.response, page.title, page.known, fails=fails)


async def settled(press: RecordBuilder) -> None:
    while (pressing := press._compressing) is not None:
        await asyncio.wait([pressing])


async def test_records_are_made_off_the_loop_while_pages_arrive_and_once(keeper: SegmentWriter, blobs: FakeBlobs):
    press, pages = RecordBuilder(at_once=2), [watched(n) for n in range(5)]
    for page in pages:
        press.add(page.made)
        await settled(press)
    assert [len(page.threads) for page in pages] == [1, 1, 1, 1, 0], "some pages at a time"
    stored = await keeper.write(pages)
    assert uris(blobs.objects[stored.key]) == [f"https://a.example/{n}" for n in range(5)]
    assert [len(page.threads) for page in pages] == [1] * 5, "no record is made twice"
    assert threading.get_ident() not in {thread for page in pages for thread in page.threads}


async def test_a_failure_to_make_a_record_ahead_is_raised_by_the_write(keeper: SegmentWriter):
    press, bad, good = RecordBuilder(at_once=2), watched(1, fails=True), watched(2)
    press.add(bad.made)
    press.add(good.made)
    await settled(press)
    with pytest.raises(ValueError, match="no record of this"):
        await keeper.write([bad])
    assert (await keeper.write([good])).written.records == 1
