"""The preview of a site before it becomes a source, over HTTP, of pages that a fake client answers."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from longline.ports.http import FetchFailed
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, response
from tests.surfaces.intervals.stage import Stage, opened

WORDS = " ".join(["word"] * 80)
URL = "https://a.example/2024/05/a-story"
PAGE = f"""<html><head><title>A story</title><meta property="og:site_name" content="The Paper">
<meta name=description content=About><link rel=alternate type=application/rss+xml href=/feed></head>
<body><a href="/next">n</a><div class=story><h2>Headline</h2><p>{WORDS}</p></div></body></html>""".encode()


@pytest.fixture
def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
async def trying(records: Records, clock: FakeClock, tmp_path: Path, http: FakeHttp) -> AsyncIterator[Stage]:
    async with opened(records, clock, tmp_path, http=http) as stage:
        yield stage


async def test_a_trial_with_a_pattern_that_cannot_be_compiled_is_refused(trying: Stage):
    told = await trying.ask("POST", "/api/v1/sources/test-crawl", {"url": URL, "article_url_patterns": ["(?=a)"]}, 400)
    assert told["error"].startswith("article_url_patterns: bad pattern")


async def test_a_page_is_tried_with_the_selectors_that_are_meant_for_it(trying: Stage, http: FakeHttp):
    http.on(URL, response(URL, body=PAGE))
    body = {"url": URL, "selectors": {"article": {"container": ".story", "title": "h2", "body": "p"}}}
    told = await trying.ask("POST", "/api/v1/sources/test-crawl", body)
    assert (told["status_code"], told["articles_found"], told["links_found"], told["warnings"]) == (200, 1, 2, [])
    [sample] = told["sample_articles"]
    assert (sample["title"], sample["extraction_method"], sample["word_count"]) == ("Headline", "selector", 80)
    assert await trying.jobs() == []


async def test_a_page_that_would_not_be_indexed_has_a_warning(trying: Stage, http: FakeHttp):
    thin = "https://a.example/2024/05/nothing"
    http.on(thin, response(thin, body=b"<title>T</title><p>few words"))
    told = await trying.ask("POST", "/api/v1/sources/test-crawl", {"url": thin})
    assert (told["articles_found"], told["warnings"]) == (0, ["not indexed: quality_gate"])
    http.on(thin, response(thin, body=b"%PDF", headers=(("content-type", "application/pdf"),)))
    told = await trying.ask("POST", "/api/v1/sources/test-crawl", {"url": thin})
    assert (told["sample_articles"], told["warnings"]) == ([], ["the page is no HTML that can be read"])


SHOP = """
import datetime, msgspec
from longline.plugins import Item, Link, parser

class Shop(msgspec.Struct):
    currency: str = "GBP"

@parser("books", match="https://books.example/*", config=Shop)
def books(page, config):
    for number in range(12):
        yield Item("book", number, title=page.title, currency=config.currency, on=datetime.date(2026, 1, 2))
    yield Link("https://books.example/2")

@parser("broken", match=())
def broken(page):
    yield Item("book", price=page.css("h1::text"))

@parser("empty", match=())
def empty(page):
    yield Link("https://books.example/2")
"""


@pytest.fixture
async def shop(records: Records, clock: FakeClock, tmp_path: Path, http: FakeHttp) -> AsyncIterator[Stage]:
    (tmp_path / "shop.py").write_text(SHOP)
    for url in (URL, "https://books.example/"):
        http.on(url, response(url, body=PAGE))
    async with opened(records, clock, tmp_path, http=http, parsers=(str(tmp_path / "shop.py"),)) as stage:
        yield stage


async def test_a_page_is_tried_with_the_parser_and_the_config_of_the_source(shop: Stage):
    body = {"url": URL, "parser": "books", "config": {"currency": "EUR"}}
    told = await shop.ask("POST", "/api/v1/sources/test-crawl", body)
    assert (told["parser"], told["articles_found"], told["links_found"], told["warnings"]) == ("books", 12, 1, [])
    assert (told["success_rate"], told["sample_articles"], len(told["sample_items"])) == (1.0, [], 10)
    assert told["sample_items"][0]["kind"] == "book"
    fields = told["sample_items"][0]["fields"]
    assert (fields["title"], fields["currency"], fields["on"]) == ("A story", "EUR", "2026-01-02")


async def test_without_a_name_the_own_parser_that_matches_is_tried(shop: Stage):
    told = await shop.ask("POST", "/api/v1/sources/test-crawl", {"url": "https://books.example/"})
    assert (told["parser"], told["articles_found"]) == ("books", 12)
    told = await shop.ask("POST", "/api/v1/sources/test-crawl", {"url": URL})
    assert "parser" not in told
    assert len(told["sample_articles"]) == 1


@pytest.mark.parametrize(
    ("parser", "warning"),
    [("empty", "the parser empty makes no item of the page"), ("broken", "the CSS selector 'h1::text' cannot be read")],
)
async def test_a_preview_warns_of_a_parser_without_items(shop: Stage, parser: str, warning: str):
    told = await shop.ask("POST", "/api/v1/sources/test-crawl", {"url": URL, "parser": parser})
    assert (told["articles_found"], told["success_rate"]) == (0, 0.0)
    assert warning in told["warnings"][0]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"parser": "bocks"}, "there is no parser 'bocks'; loaded are"),
        ({"parser": "books", "config": {"page": 1}}, "the config of the parser 'books' has no key 'page'"),
        ({"config": {"page": 1}}, "name the parser with the field parser"),
    ],
)
async def test_a_trial_of_a_parser_that_is_not_understood_is_refused(shop: Stage, sent: dict[str, Any], error: str):
    told = await shop.ask("POST", "/api/v1/sources/test-crawl", {"url": URL} | sent, 400)
    assert error in told["error"]


async def test_the_metadata_of_a_site_is_read_from_its_page(trying: Stage, http: FakeHttp):
    http.on(URL, response(URL, body=PAGE))
    told = await trying.ask("POST", "/api/v1/sources/fetch-metadata", {"url": URL})
    assert (told["name"], told["title"], told["description"]) == ("The Paper", "A story", "About")
    assert told["feed_url"] == "https://a.example/feed"


@pytest.mark.parametrize("path", ["test-crawl", "fetch-metadata"])
async def test_an_invalid_request_is_400_and_a_failed_fetch_502(trying: Stage, http: FakeHttp, path: str):
    for body in ({}, {"url": ""}, {"url": "nothing"}, {"url": 5}, {"url": URL, "selectors": []}):
        if path == "fetch-metadata" and "selectors" in body:
            continue
        await trying.ask("POST", f"/api/v1/sources/{path}", body, 400)
    http.on(URL, FetchFailed("refused", "no"))
    assert await trying.ask("POST", f"/api/v1/sources/{path}", {"url": URL}, 502) == {"error": "fetch failed: refused"}
    http.on(URL, FetchFailed("egress", "inside"))
    await trying.ask("POST", f"/api/v1/sources/{path}", {"url": URL}, 400)
