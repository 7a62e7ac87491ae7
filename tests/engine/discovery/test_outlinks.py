from longline.engine.discovery.outlinks import MAX_LINKS_PER_TRANSACTION, Outlinks
from longline.engine.worker.finished_task import Finished
from longline.model.discovery.link import LinkDetails, NewLink
from longline.testing.clock import FakeClock
from tests.engine.discovery.contributions import contributed
from tests.engine.fakes import RUN, part
from tests.engine.worker.test_reporter import Desk, done


class Remembered:
    """A store of links that keeps the batches."""

    def __init__(self) -> None:
        self.pieces: list[list[NewLink]] = []

    async def save(self, links: list[NewLink]) -> int:
        self.pieces.append(links)
        return len(links)


async def pages(clock: FakeClock, *links: str) -> list[Finished]:
    host = await Desk(clock).claim(1)
    return [done(host, 1, links)]


async def test_only_links_to_other_sites_are_stored(clock: FakeClock):
    stored = Remembered()
    links = ("https://a.example/2", "https://c.example/x", "https://b.example/", "http://[", "https://d.example/")
    found = await contributed(Outlinks(part(stored)).contribute, await pages(clock, *links))
    away = [NewLink(RUN, url, "https://a.example/1", 1) for url in ("https://c.example/x", "https://d.example/")]
    assert (found.links, stored.pieces) == (away, [])
    assert found.link_details == [LinkDetails("https://a.example/1", 200, "text/html; charset=utf-8")]


async def test_most_links_of_a_page_with_many_are_stored_before_the_report(clock: FakeClock):
    stored = Remembered()
    links = [f"https://c.example/{n}" for n in range(2 * MAX_LINKS_PER_TRANSACTION + 1)]
    found = await contributed(Outlinks(part(stored)).contribute, await pages(clock, *links))
    assert [len(piece) for piece in (*stored.pieces, found.links)] == [2000, 2000, 1]
    assert {link.url for piece in (*stored.pieces, found.links) for link in piece} == set(links)
    exactly = await contributed(
        Outlinks(part(stored)).contribute, await pages(clock, *links[:MAX_LINKS_PER_TRANSACTION])
    )
    assert (len(exactly.links), len(stored.pieces)) == (MAX_LINKS_PER_TRANSACTION, 2)
