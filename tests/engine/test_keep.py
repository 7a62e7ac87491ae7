import asyncio
import io
import threading

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator

from longline.engine.fetch import Fetched
from longline.engine.keep import Keeper, KeptPage, Press, keep_page, segment_key
from longline.model.errors import Unavailable
from longline.model.task import PageFacts
from longline.model.warc import Record, read_record
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
def keeper(blobs: FakeBlobs, segments: FakeSegments, clock: FakeClock) -> Keeper:
    return Keeper(part(blobs), part(segments), clock, OWNER)


def kept(number: int, title: str = "") -> KeptPage:
    url = f"https://a.example/{number}"
    answer = response(url, body=b"<p>%d</p>" % number, headers=(("Content-Type", "text/html"), ("ETag", '"e"')))
    page = keep_page(Fetched("ok", START + number, answer, answer.body, 200), title)
    assert page
    return page


def uris(data: bytes) -> list[str]:
    """What somebody else's reader finds in a segment."""
    return [r.rec_headers.get_header("WARC-Target-URI") for r in ArchiveIterator(io.BytesIO(data))]


def test_what_was_fetched_is_kept_with_its_facts():
    record, facts = kept(3, "Three").made()
    assert (facts.url, facts.title, facts.fetched_at) == ("https://a.example/3", "Three", START + 3)
    assert (facts.status, facts.body_bytes, facts.fetch_ms) == (200, 8, 5)
    assert (facts.content_type, facts.etag, facts.last_modified) == ("text/html", '"e"', None)
    assert read_record(record.member).body == b"<p>3</p>"
    assert facts.length == len(record.member)


def test_of_a_failure_nothing_is_kept():
    assert keep_page(Fetched("dns", START, error="no such name"), "") is None


async def test_pages_can_be_read_back_one_by_one(keeper: Keeper, blobs: FakeBlobs):
    stored = await keeper.write([kept(n) for n in range(3)])
    data = blobs.objects[stored.key]
    assert uris(data) == [f"https://a.example/{n}" for n in range(3)]
    assert (stored.written.records, stored.written.bytes) == (3, len(data))
    for number, facts in enumerate(stored.facts):
        record = read_record(await blobs.get_range(stored.key, facts.offset, facts.length))
        assert (record.url, facts.url) == (f"https://a.example/{number}",) * 2


async def test_who_writes_is_said_before_anything_is_written(keeper: Keeper, journal: Journal, segments: FakeSegments):
    stored = await keeper.write([kept(1)])
    assert journal == [("begin", stored.key), ("put", stored.key)]
    assert [(row.owner, row.state) for row in segments.rows.values()] == [(OWNER, "writing")]


async def test_a_segment_is_written_again_with_exactly_what_remains(keeper: Keeper, blobs: FakeBlobs):
    pages = [kept(n) for n in range(4)]
    before = await keeper.write(pages)
    after = await keeper.rewrite(before, [pages[0], pages[3]])
    assert (after.key, after.written.segment_id) == (before.key, before.written.segment_id)
    assert list(blobs.objects) == [before.key]
    assert uris(blobs.objects[after.key]) == ["https://a.example/0", "https://a.example/3"]
    assert [f.offset for f in after.facts] == [0, after.facts[0].length]
    assert after.written.records == 2


async def test_a_discarded_segment_leaves_nothing(keeper: Keeper, blobs: FakeBlobs, segments: FakeSegments):
    await keeper.discard(await keeper.write([kept(1)]))
    assert (blobs.objects, segments.rows) == ({}, {})


async def test_what_was_never_named_is_cleared_away(keeper: Keeper, blobs: FakeBlobs, segments: FakeSegments):
    named, unnamed = await keeper.write([kept(1)]), await keeper.write([kept(2)])
    segments.name(named.written.segment_id, 1, named.written.bytes)
    other = await Keeper(part(blobs), part(segments), FakeClock(), OWNER + 1).write([kept(3)])
    blobs.away = True
    with pytest.raises(Unavailable):
        await keeper.write([kept(4)])  # begun, never put
    blobs.away = False
    await keeper.clear()
    assert set(blobs.objects) == {named.key, other.key}
    assert unnamed.key not in {row.key for row in segments.rows.values()}
    assert len(segments.rows) == 2


def test_keys_are_in_the_order_of_time_and_never_the_same():
    first, second, third = segment_key(START), segment_key(START), segment_key(START + 86_400_000)
    assert first != second
    assert max(first, second) < third
    assert first.startswith("warc/2023/11/14/221320-")


# -- ahead of the report ----------------------------------------------------------------------------------------------


class Watched(KeptPage, frozen=True):
    """A page that notes in which thread its record was made, and lets that fail."""

    threads: list[int] = msgspec.field(default_factory=list)
    fails: bool = False

    def _make(self) -> tuple[Record, PageFacts]:
        self.threads.append(threading.get_ident())
        if self.fails:
            raise ValueError("no record of this")
        return super()._make()


def watched(number: int, *, fails: bool = False) -> Watched:
    page = kept(number)
    return Watched(page.fetched, page.response, page.title, page.known, fails=fails)


async def settled(press: Press) -> None:
    while (pressing := press._pressing) is not None:
        await asyncio.wait([pressing])


async def test_records_are_made_off_the_loop_while_pages_come_in_and_once(keeper: Keeper, blobs: FakeBlobs):
    press, pages = Press(at_once=2), [watched(n) for n in range(5)]
    for page in pages:
        press.add(page.made)
        await settled(press)
    assert [len(page.threads) for page in pages] == [1, 1, 1, 1, 0], "some pages at a time"
    stored = await keeper.write(pages)
    assert uris(blobs.objects[stored.key]) == [f"https://a.example/{n}" for n in range(5)]
    assert [len(page.threads) for page in pages] == [1] * 5, "nothing is made twice"
    assert threading.get_ident() not in {thread for page in pages for thread in page.threads}


async def test_what_cannot_be_made_ahead_is_told_to_whoever_needs_it(keeper: Keeper):
    press, bad, good = Press(at_once=2), watched(1, fails=True), watched(2)
    press.add(bad.made)
    press.add(good.made)
    await settled(press)
    with pytest.raises(ValueError, match="no record of this"):
        await keeper.write([bad])
    assert (await keeper.write([good])).written.records == 1
