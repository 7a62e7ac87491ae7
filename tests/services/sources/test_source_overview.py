"""The overview of a source."""

import pytest

from longline.engine.lifecycle.creation import create_schedule
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.sources.source import NewSource
from longline.model.sources.source_uses import SourceUse
from longline.ports.records import Records
from longline.services.sources.source_overview import SourceOverviews
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


async def test_the_overview_of_a_source_has_its_parts(records: Records):
    row = await records.sources.make(NewSource("Kelp", "https://kelp.example/", use=SourceUse.PRODUCTS))
    terms = ScheduleSpec(url="https://kelp.example/", source_ref=row.public_id, every=1, unit="hours", enabled=True)
    new = NewSchedule(new_id(), terms.url, interval_ms=terms.interval_ms, next_due=5, terms=terms)
    await create_schedule(records.schedules, new, "person")
    look = await SourceOverviews(records).get(row.id)
    assert (look.source.name, look.uses, look.pools, list(look.proxies)) == ("Kelp", [SourceUse.PRODUCTS], [], [])
    assert [schedule.url for schedule in look.schedules] == ["https://kelp.example/"]
    assert look.recrawls == {}


async def test_an_unknown_source_is_not_found(records: Records):
    with pytest.raises(NotFound):
        await SourceOverviews(records).get(1)
