"""Trials of pages that cannot be read."""

from longline.plugins import Page
from longline.plugins.html.parse_cost import TooIntricate
from longline.services.page_preview import Glances
from longline.services.sources.trial_crawl import Extract, Trial, Trials
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, response

URL = "https://a.example/"


def too_much(page: Page) -> Extract:
    raise TooIntricate("too much")


async def test_what_cannot_be_read_is_tried_all_the_same():
    http = FakeHttp(FakeClock())
    http.on(URL, response(URL, body=b"<p>"))
    trials = Trials(Glances(http, FakeClock(), "bot/1"), too_much)
    assert await trials.run(URL, {}, 5) == Trial(URL, 200, "text/html; charset=utf-8")
