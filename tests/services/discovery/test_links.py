import pytest

from longline.model.discovery.link import LinkQuery, NewLink
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleSpec
from longline.ports.records import Records
from longline.services.discovery.links import DiscoveredLinks
from tests.drivers.records.world import queued_run


async def test_a_link_becomes_a_schedule_of_the_given_source(records: Records):
    made: list[tuple[str, str, str | None]] = []

    async def make(terms: ScheduleSpec) -> ScheduleRow:
        made.append((terms.url, terms.source_ref, terms.source_name))
        return await records.schedules.add(NewSchedule(new_id(), terms.url))

    service = DiscoveredLinks(records.links, make)
    run = await queued_run(records)
    await records.links.save([NewLink(run.id, "https://x.example/", "https://p.example/", 1)])
    [[link], _] = await service.links(LinkQuery(), 1, 0)
    await service.promote(link.uid, None, None)
    await service.promote(link.uid, "7", "seven")
    assert made == [("https://x.example/", "", None), ("https://x.example/", "7", "seven")]
    assert (await service.link(link.uid)).taken
    for asked in (service.link("x"), service.forget("x"), service.promote("x", None, None), service.domain("x")):
        with pytest.raises(NotFound):
            await asked
    assert len(made) == 2
