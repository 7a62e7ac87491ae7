"""`python -m tests.chaos.report_kill FOLDER DATABASE URL`: a crawl with a process that is killed right after a report.

The page's report is committed; no code after it has run.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from longline.engine.frontier.seeding import RunToMake
from longline.engine.worker.finished_task import Finished
from longline.engine.worker.reporter import ReportParts
from longline.model.runs.run import RunKind
from longline.model.sources.source import NewSource
from longline.model.urls.url import parse
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform, registered_worker
from longline.wiring.subjects.feeds import feed_parts
from longline.wiring.worker import fetch_worker, link_contributors
from tests.plans import crawl_plan


async def die(_: Sequence[Finished]) -> None:
    """Kill the process, as the first observer of its first report."""
    os.kill(os.getpid(), signal.SIGKILL)


async def crawl(folder: Path, database: str, url: str) -> None:
    """Crawl one page of a source, until the kill."""
    settings = Settings(
        data=folder,
        database=database,
        egress_allow=("127.0.0.0/8",),
        discovery=True,
        save_links=True,
        frontier_links=True,
        delay=0.0,
    )
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        source = await platform.records.sources.add(NewSource("site", url))
        plan = crawl_plan((url,), hosts=(parse(url).host,), delay_ms=0, discover=True, max_depth=0, source_id=source.id)
        async with registered_worker(platform, frozenset({"fetch"})) as owner:
            await feed_parts(platform).seeder.ask(RunToMake(RunKind.CRAWL, plan, source.id))
            worker = fetch_worker(platform, owner, report=ReportParts([die], link_contributors(platform)))
            await worker.run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
