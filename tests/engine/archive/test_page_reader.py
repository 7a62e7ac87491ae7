from collections.abc import Callable

import pytest
from msgspec import structs

from longline.engine.archive.page_reader import PageReader
from longline.engine.archive.page_records import keep_page
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.model.archive.warc import DamagedRecord, read_record
from longline.model.errors import NotFound
from longline.model.frontier.task import KnownPage
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import OWNER, FakeBlobs, FakeSegments, FakeTasks, Journal, part, response

URL = "https://a.example/1"


class Shelf:
    """Pages in segments, and the rows with their places."""

    def __init__(self, clock: FakeClock) -> None:
        self.blobs, self.tasks = FakeBlobs(Journal()), FakeTasks()
        self.keeper = SegmentWriter(part(self.blobs), part(FakeSegments(Journal())), clock, OWNER)
        self.archive = PageReader(part(self.tasks), part(self.blobs))

    async def put(self, task_id: int, fetched: Fetched, known: KnownPage | None = None) -> None:
        earlier = await self.archive.earlier(known) if known else None
        kept = keep_page(fetched, "T", known, earlier.original if earlier else None)
        assert kept
        stored = await self.keeper.write([kept])
        self.tasks.pages[task_id] = (stored.key, stored.facts[0])

    def known(self, task_id: int) -> KnownPage:
        facts = self.tasks.pages[task_id][1]
        return KnownPage(task_id, facts.digest, facts.fetched_at, facts.etag, facts.last_modified)


@pytest.fixture
def shelf(clock: FakeClock) -> Shelf:
    return Shelf(clock)


def fetched(body: bytes = b"<p>one</p>", etag: str = '"v1"') -> Fetched:
    answer = response(URL, body=body, headers=(("Content-Type", "text/html"), ("ETag", etag)))
    return Fetched("ok", START, answer, body, 200)


async def test_a_page_is_read_back_as_it_was_fetched(shelf: Shelf):
    await shelf.put(1, fetched())
    page, facts = await shelf.archive.page(1)
    assert (page.url, page.body, page.status, page.header("etag")) == (URL, b"<p>one</p>", 200, '"v1"')
    assert (facts.title, facts.body_of) == ("T", None)


async def test_a_page_that_the_server_calls_unchanged_has_the_earlier_body(shelf: Shelf):
    await shelf.put(1, fetched())
    not_modified = response(URL, 304, b"", (("Date", "x"),))
    await shelf.put(2, Fetched("ok", START + 5, not_modified, status=304, same_as=shelf.known(1)), shelf.known(1))
    page, facts = await shelf.archive.page(2)
    assert (page.body, page.header("etag")) == (b"<p>one</p>", '"v1"')
    assert (facts.status, facts.body_of, facts.etag) == (200, 1, '"v1"'), "the validators of the page are kept"
    assert (facts.content_type, facts.body_bytes, facts.fetched_at) == ("text/html", 10, START + 5)
    assert facts.digest == shelf.tasks.pages[1][1].digest


async def test_the_same_body_is_not_stored_twice(shelf: Shelf):
    await shelf.put(1, fetched())
    await shelf.put(2, fetched(etag='"v2"'), shelf.known(1))
    await shelf.put(3, fetched(b"<p>two</p>"))
    sizes = [shelf.tasks.pages[n][1].body_of for n in (1, 2, 3)]
    assert sizes == [None, 1, None]
    assert [(await shelf.archive.page(n))[0].body for n in (1, 2, 3)] == [b"<p>one</p>", b"<p>one</p>", b"<p>two</p>"]
    assert shelf.tasks.pages[2][1].etag == '"v2"'


async def test_a_revisit_refers_to_the_record_that_holds_the_body(shelf: Shelf):
    await shelf.put(1, fetched())
    first = read_record(await place(shelf, 1))
    for task_id in (2, 3):
        not_modified = response(URL, 304, b"")
        # A known page has the time of the last visit, and the task of the body.
        known = structs.replace(shelf.known(1), fetched_at=START + task_id)
        await shelf.put(task_id, Fetched("ok", START + 5, not_modified, status=304, same_as=known), known)
        revisit = read_record(await place(shelf, task_id))
        assert revisit.field("WARC-Refers-To") == f"<urn:uuid:{first.id}>"
        assert revisit.field("WARC-Refers-To-Date") == first.field("WARC-Date")
        assert revisit.field("WARC-Refers-To-Target-URI") == URL


async def place(shelf: Shelf, task_id: int) -> bytes:
    key, facts = shelf.tasks.pages[task_id]
    return await shelf.blobs.get_range(key, facts.start, facts.length)


def flipped(data: bytes) -> bytes:
    return data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]


@pytest.mark.parametrize("damage", [lambda _: b"", lambda data: data[:-30], flipped], ids=["lost", "short", "flipped"])
async def test_a_damaged_earlier_page_is_not_found(shelf: Shelf, damage: Callable[[bytes], bytes]):
    await shelf.put(1, fetched())
    known = shelf.known(1)
    assert await shelf.archive.earlier(known)
    assert await shelf.archive.earlier(structs.replace(known, digest="sha256:0")) is None, (
        "the record is that of another page"
    )
    key, _ = shelf.tasks.pages[1]
    shelf.blobs.objects[key] = damage(shelf.blobs.objects[key])
    assert await shelf.archive.earlier(known) is None


async def test_a_missing_or_damaged_page_is_an_error_or_not_found(shelf: Shelf):
    await shelf.put(1, fetched())
    with pytest.raises(NotFound):
        await shelf.archive.page(9)
    assert await shelf.archive.find(9) is None
    key, facts = shelf.tasks.pages[1]
    shelf.blobs.objects[key] = b"\0" * len(shelf.blobs.objects[key])
    with pytest.raises(DamagedRecord):
        await shelf.archive.page(1)
    assert await shelf.archive.find(1) is None
    shelf.tasks.pages[1] = (key, structs.replace(facts, body_of=1))
    with pytest.raises(DamagedRecord):
        await shelf.archive.page(1)
