from longline.model.discovery.link import LinkQuery, NewLink
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.source import NewSource
from longline.settings import Settings
from longline.wiring.doors.intervals import interval_services, standing_frontier
from longline.wiring.house import migrate_tables, open_house


async def test_a_link_of_a_source_becomes_a_schedule_of_it(tmp_path):
    async with open_house(Settings(data=tmp_path)) as house:
        await migrate_tables(house, may_migrate=True)
        source = await house.records.sources.add(NewSource("one", "https://one.example/"))
        run = await house.records.runs.add(NewRun("r", RunKind.CRAWL, "{}", source_id=source.id))
        await house.records.links.save([NewLink(run.id, "https://x.example/", "https://one.example/", 1)])
        services = interval_services(house).discovered
        assert services is not None
        [[link], _] = await services.discovered.links(LinkQuery(), 1, 0)
        for named, found in [(None, source.public_id), ("7", "7"), ("odd", "odd")]:
            schedule = await services.discovered.promote(link.uid, named, None)
            assert (schedule.source_ref, schedule.state, schedule.interval_ms) == (found, "pending", None)
        assert (await standing_frontier(house).submit("https://x.example/", "s", "manual", 500)).new
