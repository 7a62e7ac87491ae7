from longline.model.discovery.link import LinkQuery, NewLink
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.source import NewSource
from longline.settings import Settings
from longline.wiring.doors.intervals import interval_services, standing_frontier
from longline.wiring.platform import migrate_tables, open_platform


async def test_a_link_of_a_source_becomes_a_schedule_of_that_source(tmp_path):
    async with open_platform(Settings(data=tmp_path)) as platform:
        await migrate_tables(platform, may_migrate=True)
        source = await platform.records.sources.add(NewSource("one", "https://one.example/"))
        run = await platform.records.runs.add(NewRun("r", RunKind.CRAWL, "{}", source_id=source.id))
        await platform.records.links.save([NewLink(run.id, "https://x.example/", "https://one.example/", 1)])
        services = interval_services(platform).discovered
        assert services is not None
        [[link], _] = await services.discovered.links(LinkQuery(), 1, 0)
        for named, found in [(None, source.public_id), ("7", "7"), ("odd", "odd")]:
            schedule = await services.discovered.promote(link.uid, named, None)
            assert (schedule.source_ref, schedule.state, schedule.interval_ms) == (found, "pending", None)
        assert (await standing_frontier(platform).submit("https://x.example/", "s", "manual", 500)).new
