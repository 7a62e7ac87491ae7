"""Automatic runs of catalogues, on both engines."""

import asyncio

from longline.engine.series.automatic_runs import AutomaticSeriesRuns
from longline.model.series.series import NewSeries, NewTarget, TargetRow
from longline.model.series.series_run import SeriesRunQuery
from longline.model.sources.source import NewSource, SourceRow
from longline.model.sources.source_uses import SourceUse
from longline.ports.records import Records
from longline.testing.clock import FakeClock

MINUTE = 60.0


async def source(records: Records, name: str = "site", config: str = "{}", **more: object) -> SourceRow:
    facts = {"extension": "com.example.site", "extension_config": config, "use": SourceUse.CATALOGUE} | more
    return await records.sources.make(NewSource(name, f"https://{name}.example/", **facts))  # type: ignore[arg-type] # facts of any field


async def target(records: Records, of: SourceRow, title: str, *, active: bool = True) -> TargetRow:
    series = await records.catalogues.series.add(NewSeries(title))
    new = NewTarget(series.id, of.id, title, f"{of.base_url}{title}", active)
    return await records.catalogues.targets.add(new)


async def queued(records: Records) -> list[str | None]:
    found = await records.catalogues.runs.find(SeriesRunQuery(), limit=1000, offset=0)
    assert all(row.caller_id is None for row in found)
    return [row.series_id for row in found]


async def test_series_and_catalogues_are_due_by_their_intervals(records: Records, clock: FakeClock):
    site = await source(records, config='{"schedule":{"targetedminutes":10,"discoveryminutes":30}}')
    one, two = await target(records, site, "one"), await target(records, site, "two")
    await target(records, site, "off", active=False)
    maker = AutomaticSeriesRuns(records.catalogues.automatic, clock)
    assert await maker.once() == 0
    clock.advance(10 * MINUTE)
    assert await maker.once() == 2
    assert set(await queued(records)) == {one.series_id, two.series_id}
    clock.advance(20 * MINUTE)
    # The runs of the two series are still open, so only the catalogue gets one.
    assert await maker.once() == 1
    assert await maker.once() == 0
    assert set(await queued(records)) == {one.series_id, two.series_id, None}


async def test_sources_that_are_disabled_or_have_no_extension_are_left_alone(records: Records, clock: FakeClock):
    await source(records, "off", enabled=False)
    await source(records, "plain", extension=None)
    await source(records, "never", '{"schedule":null}')
    clock.advance(100_000 * MINUTE)
    assert await AutomaticSeriesRuns(records.catalogues.automatic, clock).once() == 0


async def test_several_processes_make_each_run_once(records: Records, clock: FakeClock):
    sites = [await source(records, f"site{n}") for n in range(3)]
    for site in sites:
        for n in range(5):
            await target(records, site, f"{site.name}-{n}")
    clock.advance(2000 * MINUTE)
    makers = [AutomaticSeriesRuns(records.catalogues.automatic, clock) for _ in range(4)]
    assert sum(await asyncio.gather(*(maker.once() for maker in makers))) == 3 * 6
    found = await queued(records)
    assert len(found) == 18
    assert found.count(None) == 3


async def test_two_pages_of_one_series_are_one_run(records: Records, clock: FakeClock):
    site = await source(records, config='{"schedule":{"discoveryminutes":0}}')
    first = await target(records, site, "one")
    second = NewTarget(first.series_id, site.id, "other", f"{site.base_url}other")
    await records.catalogues.targets.add(second)
    clock.advance(61 * MINUTE)
    assert await AutomaticSeriesRuns(records.catalogues.automatic, clock).once() == 1
