"""Simultaneous submissions to the standing frontier; the rest is tested over HTTP."""

import asyncio

import pytest

from longline.drivers.signals.local import LocalSignals
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.errors import BadInput
from longline.model.frontier.standing_frontier import UrlQuery, url_hash
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from longline.services.frontier.standing_frontier import StandingFrontier, kind_of
from tests.drivers.records.peek import Peek
from tests.engine.web import standing


def frontier(records: Records) -> StandingFrontier:
    return StandingFrontier(records, Lifecycle(records), PolitenessKey(), LocalSignals(), standing(records))


async def test_two_processes_agree_on_the_run_of_a_source(records: Records, peek: Peek):
    both = [frontier(records), frontier(records)]
    submits = [one.submit(f"https://a.example/{n}", "s", "manual", 500) for n, one in enumerate(both * 5)]
    given = await asyncio.gather(*submits)
    assert all(one.new for one in given)
    assert len(await peek.rows("SELECT DISTINCT run_id FROM tasks")) == 1
    _, total = await both[0].find(UrlQuery(source="s", kind=kind_of("manual")), 50, 0)
    assert total == 10


async def test_simultaneous_submissions_of_one_url_are_one_task(records: Records):
    both = [frontier(records), frontier(records)]
    given = await asyncio.gather(*(one.submit("https://a.example/", "s", "manual", 500) for one in both * 5))
    assert sum(one.new for one in given) == 1
    assert len({one.id for one in given}) == 1


async def test_a_submission_sends_a_work_signal(records: Records):
    signals = LocalSignals()
    mine = StandingFrontier(records, Lifecycle(records), PolitenessKey(), signals, standing(records))
    async with signals.listen("work") as heard:
        await mine.submit("https://a.example/", "s", "feed", 500)
        await asyncio.wait_for(anext(heard), 60)


def test_an_unknown_origin_is_refused():
    assert kind_of("feed") == "frontier.feed"
    with pytest.raises(BadInput):
        kind_of("moon")


def test_spellings_of_one_url_have_one_hash():
    assert url_hash("http://Example.com:80/a/../b/") == url_hash("https://example.com/b?utm_source=x#y")


async def test_a_url_is_queued_under_its_politeness_key(records: Records):
    lifecycle = Lifecycle(records)
    mine = StandingFrontier(records, lifecycle, PolitenessKey("domain"), LocalSignals(), standing(records))
    for url in ("https://a.b.example/", "https://c.b.example/", "https://a.b.example/"):
        await mine.submit(url, "s", "manual", 500)
    [lease] = await lifecycle.claim(ClaimRequest(1, 10, 10, 1000))
    assert (lease.host, len(lease.tasks)) == ("b.example", 2)
