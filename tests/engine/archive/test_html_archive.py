"""HTML responses as objects of their own: their keys and labels; a failure of the archive affects nothing else."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from longline.engine.archive.html_archive import MAX_WAITING, HtmlArchive, HtmlCopy
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.http import Response
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import FakeBlobs, part
from tests.plans import crawl_plan

AT = 1_700_000_000_000


PLAN = crawl_plan((), source_name="The News: daily")


HTML = (("Content-Type", "text/html"), ("X-Other", "1"))


KEY = "live/the_news_daily/2023/11/14/befde498_20231114221320"


def answer(url: str = "https://a.example/", status: int = 200, headers: tuple[tuple[str, str], ...] = HTML) -> Response:
    return Response(url, status, headers, b"<p>hello", "1.1", 5)


class Fixture:
    """An archive and its two stores."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.pages, self.facts = clock, FakeBlobs([]), FakeBlobs([])
        self.archive = HtmlArchive(part(self.pages), part(self.facts), clock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        storing = asyncio.create_task(self.archive.run())
        yield
        await self.archive.drained()
        storing.cancel()
        await asyncio.gather(storing, return_exceptions=True)


class HastyClock(FakeClock):
    """A clock that a sleep moves forward."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)


@pytest.fixture
def fixture() -> Fixture:
    return Fixture(HastyClock())


async def test_a_response_is_stored_under_its_key_with_labels_and_facts(fixture: Fixture) -> None:
    async with fixture.running():
        fixture.archive.observe(PLAN, AT, answer())
    assert fixture.pages.objects == {f"{KEY}.html": b"<p>hello"}
    assert fixture.pages.labels[f"{KEY}.html"] == {
        "url": "https://a.example/",
        "source": "The News: daily",
        "crawled-at": "2023-11-14T22:13:20Z",
        "status-code": "200",
        "Content-Type": "text/html; charset=utf-8",
    }
    [(key, text)] = fixture.facts.objects.items()
    assert key == f"{KEY}.meta.json"
    told = json.loads(text)
    assert told.pop("es_document_id") == told["url_hash"]
    assert told["url_hash"].startswith("befde498")
    assert told == {
        "url": "https://a.example/",
        "url_hash": told["url_hash"],
        "source_name": "The News: daily",
        "crawled_at": "2023-11-14T22:13:20Z",
        "status_code": 200,
        "content_type": "text/html",
        "content_length": 8,
        "headers": {"Content-Type": "text/html", "X-Other": "1"},
        "es_index": "the_news_daily_raw_content",
        "object_key": f"{KEY}.html",
    }


async def test_a_page_without_a_source_or_a_type_is_filed_under_its_host(fixture: Fixture) -> None:
    async with fixture.running():
        fixture.archive.observe(CrawlPlan(()), AT, answer(headers=()))
    [text] = fixture.facts.objects.values()
    assert json.loads(text)["es_index"] == "a_example_raw_content"


async def test_errors_are_kept_and_other_types_of_content_are_not(fixture: Fixture) -> None:
    async with fixture.running():
        fixture.archive.observe(PLAN, AT, answer(status=500))
        fixture.archive.observe(PLAN, AT, answer(headers=(("Content-Type", "image/png"),)))
        fixture.archive.observe(crawl_plan((), enabled=False), AT, answer("https://b.example/"))
    [text] = fixture.facts.objects.values()
    assert json.loads(text)["status_code"] == 500
    assert "es_index" not in json.loads(text)


async def test_a_failed_upload_is_repeated_three_times_and_then_dropped(
    fixture: Fixture, caplog: pytest.LogCaptureFixture
) -> None:
    fixture.pages.away = True
    async with fixture.running():
        fixture.archive.observe(PLAN, AT, answer())
    [warning] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "not stored in the HTML archive" in warning.message
    assert fixture.clock.now() - START == 7000, "the upload was repeated after one, two and four seconds"
    assert fixture.facts.objects == {}


async def test_facts_that_cannot_be_stored_do_not_affect_the_page(fixture: Fixture) -> None:
    fixture.facts.away = True
    async with fixture.running():
        fixture.archive.observe(PLAN, AT, answer())
    assert list(fixture.pages.objects) == [f"{KEY}.html"]


async def test_responses_beyond_the_bound_of_the_queue_are_left_out(
    fixture: Fixture, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(MAX_WAITING + 1):
        fixture.archive.observe(PLAN, AT, answer(f"https://a.example/{n}"))
    assert "page not archived" in caplog.text
    async with fixture.running():
        pass
    assert len(fixture.pages.objects) == MAX_WAITING


def test_labels_are_plain_ascii() -> None:
    labels = HtmlCopy("Zürich", AT, answer()).labels
    assert labels["source"] == "Z%C3%BCrich"
    assert all(value.isascii() for value in labels.values())
