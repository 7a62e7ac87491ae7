"""Submission of URLs: the checks that doors rely on."""

import pytest

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.errors import NotFound
from longline.model.recrawls.recrawl_lists import RecrawlQuery
from longline.model.sources.recrawl_settings import RecrawlSettings
from longline.model.sources.source import NewSource, SourceRow
from longline.model.urls.url import BadUrl
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.recrawls.recrawls import (
    AlreadySubmitted,
    ForeignUrl,
    RecrawlOrder,
    Recrawls,
    SourceDisabled,
)
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


def recrawls_of(records: Records, clock: FakeClock, calls: list[str] | None = None) -> Recrawls:
    async def call() -> None:
        if calls is not None:
            calls.append("workers")

    runs = RecrawlRuns(records.runs, records.sources, clock, Registry())
    return Recrawls(records, runs, PolitenessKey(), call)


async def source(records: Records, **more: object) -> SourceRow:
    return await records.sources.make(NewSource("shop.example", "https://www.shop.example/", **more))  # type: ignore[arg-type]


async def test_a_url_gets_the_frequency_of_its_source_and_wakes_workers(records: Records, clock: FakeClock):
    found = await source(records, recrawl=RecrawlSettings(frequency="6 hours").text())
    calls: list[str] = []
    recrawls = recrawls_of(records, clock, calls)
    row = await recrawls.submit(
        "https://shop.example/p", RecrawlOrder(source_id=found.id, created_by="api", priority=3)
    )
    assert (row.frequency, row.priority, row.max_attempts, row.created_by) == ("6 hours", 300, 4, "api")
    assert calls == ["workers"]
    with pytest.raises(AlreadySubmitted) as refused:
        await recrawls.submit("https://SHOP.example/p", RecrawlOrder(source_id=found.id, created_by="api"))
    assert refused.value.known.id == row.id
    assert (await recrawls.find(RecrawlQuery(), limit=5, offset=0)).rows == (row,)
    assert await recrawls.counts(found.id) == {"pending": 1}
    assert (await recrawls.depths()).ready == 1


async def test_foreign_urls_and_disabled_sources_are_refused(records: Records, clock: FakeClock):
    found, recrawls = await source(records), recrawls_of(records, clock)
    order = RecrawlOrder(source_id=found.id, created_by="admin")
    for url, error in (("https://else.example/", ForeignUrl), ("https://www.shop.example.evil.example/", ForeignUrl)):
        with pytest.raises(error):
            await recrawls.submit(url, order)
    with pytest.raises(BadUrl):
        await recrawls.submit("shop.example/p", order)
    many = await recrawls.submit_all(["https://a.shop.example/", "nothing", "https://else.example/"], order)
    assert (len(many.ids), many.duplicates, many.invalid) == (1, 0, 2)
    with pytest.raises(NotFound):
        await recrawls.get(77)
    off = await records.sources.make(NewSource("off.example", "https://off.example/", enabled=False))
    with pytest.raises(SourceDisabled):
        await recrawls.submit("https://off.example/", RecrawlOrder(source_id=off.id, created_by="admin"))
