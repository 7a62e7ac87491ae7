"""Records of pages: the facts that are stored with them."""

from longline.engine.archive.page_records import keep_page
from longline.engine.fetch.fetcher import Fetched
from longline.model.archive.warc import read_record
from longline.testing.clock import START
from tests.engine.archive.test_segment_writer import kept


def test_a_fetched_page_has_a_record_and_facts():
    record, facts = kept(3, "Three").made()
    assert (facts.url, facts.title, facts.fetched_at) == ("https://a.example/3", "Three", START + 3)
    assert (facts.status, facts.body_bytes, facts.fetch_ms) == (200, 8, 5)
    assert (facts.content_type, facts.etag, facts.last_modified) == ("text/html", '"e"', None)
    assert read_record(record.member).body == b"<p>3</p>"
    assert facts.length == len(record.member)


def test_a_failure_has_no_record():
    assert keep_page(Fetched("dns", START, error="no such name"), "") is None
