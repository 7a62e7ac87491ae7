from typing import Any

from longline.engine.discovery.outlinks import Outlinks
from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.errors import Unavailable
from longline.testing.clock import FakeClock
from tests.engine.fakes import RUN, part
from tests.engine.worker.test_reporter import Desk, done


class Remembered:
    """Links that are given to it."""

    def __init__(self, *, away: bool = False) -> None:
        self.links: list[NewLink] = []
        self.learnt: list[LinkDetails] = []
        self._away = away

    async def save(self, links: list[NewLink]) -> int:
        if self._away:
            raise Unavailable("away")
        self.links += links
        return len(links)

    async def update_from_pages(self, pages: list[LinkDetails]) -> int:
        self.learnt += pages
        return 0


async def pages(clock: FakeClock, *links: str) -> list[Any]:
    host = await Desk(clock).claim(1)
    return [done(host, 1, links)]


async def test_only_what_leads_away_is_remembered(clock: FakeClock):
    found = Remembered()
    links = ("https://a.example/2", "https://c.example/x", "https://b.example/", "http://[", "https://d.example/")
    await Outlinks(part(found)).save(await pages(clock, *links))
    away = [NewLink(RUN, url, "https://a.example/1", 1) for url in ("https://c.example/x", "https://d.example/")]
    assert found.links == away
    assert found.learnt == [LinkDetails("https://a.example/1", 200, "text/html; charset=utf-8")]


async def test_where_there_is_nothing_nothing_is_written(clock: FakeClock):
    await Outlinks(part(Remembered(away=True))).save(await pages(clock, "https://a.example/2"))


async def test_it_is_no_reason_to_fail(clock: FakeClock):
    await Outlinks(part(Remembered(away=True))).save(await pages(clock, "https://c.example/"))
