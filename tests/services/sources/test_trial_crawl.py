"""Trials of pages that cannot be parsed."""

from longline.engine.parse.page_parser import PageParser
from longline.plugins.registry import ParserSources
from longline.services.page_preview import PagePreviews
from longline.services.sources.trial_crawl import Trial, Trials
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, response

URL = "https://a.example/"
PARSERS = ParserSources(("longline.parsers.article.article",))


def trials(body: bytes) -> Trials:
    http, registry = FakeHttp(FakeClock()), PARSERS.open()
    http.on(URL, response(URL, body=body))
    parser = PageParser(registry)
    return Trials(PagePreviews(http, FakeClock(), "bot/1", parser), registry, parser)


async def test_a_page_that_cannot_be_parsed_has_a_trial():
    assert await trials(b"<div>" * 200_000).run(URL, {}, 5) == Trial(URL, 200, "text/html; charset=utf-8")


async def test_the_config_of_the_source_decides_about_refused_pages():
    page = b"<title>A title</title><p>" + b"word " * 300 + b"<a href=/a>a</a>"
    refused = await trials(page).run(URL, {"parser": "article"}, 5)
    taken = await trials(page).run(URL, {"parser": "article", "config": {"page_types": False}}, 5)
    assert refused.extract is not None
    assert taken.extract is not None
    assert (refused.extract.skipped, taken.extract.skipped) == ("page_type", None)
    assert (refused.links, taken.links, taken.extract.fields["title"]) == (1, 1, "A title")
