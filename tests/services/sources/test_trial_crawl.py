"""Trials of pages that cannot be read."""

from longline.html.parse_cost import TooComplex
from longline.plugins import Page
from longline.services.page_preview import PagePreviews
from longline.services.sources.trial_crawl import Trial, TrialExtract, Trials
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, response

URL = "https://a.example/"


def too_much(page: Page) -> TrialExtract:
    raise TooComplex("too much")


async def test_what_cannot_be_read_is_tried_all_the_same():
    http = FakeHttp(FakeClock())
    http.on(URL, response(URL, body=b"<p>"))
    trials = Trials(PagePreviews(http, FakeClock(), "bot/1"), too_much)
    assert await trials.run(URL, {}, 5) == Trial(URL, 200, "text/html; charset=utf-8")
