"""Notifications about indexed documents."""

from pathlib import Path

from longline.model.search.item import NewItem
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.subjects.search import indexing
from tests.drivers.records.world import queued_run
from tests.web import running_site
from tests.web.wire import Answer


async def test_14_the_pipeline_is_notified_of_every_indexed_document(tmp_path: Path) -> None:
    with running_site(pages=1) as site:
        site.site.extra["/api/v1/events"] = Answer(202)
        async with open_platform(Settings(data=tmp_path, pipeline_url=site.url)) as platform:
            await migrate_tables(platform, may_migrate=True)
            run = await queued_run(platform.records)
            articles = [NewItem("h", "article", run.id, 1, f"https://a.example/{n}", key=bytes([n])) for n in range(3)]
            await platform.records.items.put(articles)
            async with indexing(platform) as indexer:
                assert await indexer.once() == 3
        assert site.visits()["/api/v1/events"] == 3
