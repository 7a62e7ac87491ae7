"""Recrawls with a real worker at a real website; the website's log has the requests that arrived."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from longline.engine.frontier.withdrawn_tasks import WithdrawnTaskFilter
from longline.engine.loop_supervisor import chore, run_loops
from longline.model.sources.source import NewSource
from longline.model.sources.source_uses import SourceUse
from longline.services.recrawls.recrawls import RecrawlOrder
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.subjects.recrawls import RecrawlServices, recrawl_services
from longline.wiring.subjects.sources import plan_cache
from longline.wiring.worker import fetch_worker, parse_worker
from tests.web import running_site

PAGES = 40


async def shop(platform: Platform, url: str, **more: object) -> int:
    new = NewSource("127.0.0.1", url, use=SourceUse.PRODUCTS, **({"delay_ms": 0, "concurrency": 2} | more))  # type: ignore[arg-type]
    return (await platform.records.sources.make(new)).id


@asynccontextmanager
async def working(platform: Platform) -> AsyncIterator[None]:
    """Run the workers of one process, with the filter that checks holds."""
    stop = asyncio.Event()
    async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
        worker = fetch_worker(platform, owner, plans=plan_cache(platform))
        looking = WithdrawnTaskFilter(worker.hand, platform.lifecycle.tasks, owner, platform.records.holds)
        loops = {"fetch": worker.run, "holds": chore(looking.once, 0.1), "parse": parse_worker(platform, owner).run}
        running = asyncio.create_task(run_loops(loops, stop))
        try:
            yield
        finally:
            stop.set()
            await running


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while True:
            if await done():
                return
            await asyncio.sleep(0.02)


async def test_pages_are_crawled_parsed_again_without_a_request_and_held_back(settings: Settings, tmp_path: Path):
    async with open_platform(msgspec.structs.replace(settings, data=tmp_path / "platform")) as platform:
        await migrate_tables(platform, may_migrate=True)
        recrawls: RecrawlServices = recrawl_services(platform)
        with running_site(pages=PAGES) as site:
            source_id = await shop(platform, site.url)
            order = RecrawlOrder(source_id=source_id, created_by="admin")
            base = site.url.rstrip("/")
            made = await recrawls.recrawls.submit_all([f"{base}/page/{n}" for n in range(1, 11)], order)

            async def ended() -> bool:
                counts = await recrawls.recrawls.counts()
                return counts.get("completed", 0) + counts.get("failed", 0) == len(made.ids)

            async with working(platform):
                await until(ended)
                rows = [await recrawls.recrawls.get(task_id) for task_id in made.ids]
                paged = [row.id for row in rows if row.has_page]
                assert paged, [row.error for row in rows]
                assert all(row.started_at and row.ended_at for row in rows)
                before = len(site.requests)
                for task_id in paged:
                    assert (await recrawls.orders.reparse(task_id)).phase in ("downloaded", "parsing", "completed")
                await until(ended)
                assert len(site.requests) == before, "a page is parsed again without a request"
                await recrawls.holds.disable(source_id)
                await asyncio.sleep(0.3)
                for task_id in paged:
                    await recrawls.orders.restart(task_id)
                await asyncio.sleep(1)
                assert len(site.requests) == before, "no request is sent while the source is held"
                assert {(await recrawls.recrawls.get(i)).phase for i in paged} == {"waiting"}
                await recrawls.holds.enable(source_id)
                await until(ended)
            assert len(site.requests) >= before + len(paged)
