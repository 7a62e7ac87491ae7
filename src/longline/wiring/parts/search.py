"""The indexer, its page counts and its notifications, from the parts of the house."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from longline.drivers.search.pipeline_webhook import PipelineWebhook
from longline.engine.loops import chore, run_loops
from longline.engine.search.indexer import Indexer, Tell
from longline.engine.search.page_counts import PageCounts
from longline.engine.search.pipeline_notifier import PipelineNotifier
from longline.model.search.item import SearchDocument
from longline.wiring.house import House

COUNT_INTERVAL_SECONDS = 5.0


@asynccontextmanager
async def indexing(house: House) -> AsyncIterator[Indexer]:
    """Yield the indexer, which counts pages and notifies the service that the operator named."""
    counts, stop = PageCounts(house.records.tallies), asyncio.Event()
    async with _announcing(house) as announce:

        def tell(documents: Sequence[SearchDocument]) -> None:
            counts.tell(documents)
            announce(documents)

        counting = asyncio.create_task(run_loops({"page counts": chore(counts.once, COUNT_INTERVAL_SECONDS)}, stop))
        try:
            yield Indexer(house.records.items, house.search, house.settings.index_batch, tell)
        finally:
            stop.set()
            await counting
            await counts.once()


@asynccontextmanager
async def _announcing(house: House) -> AsyncIterator[Tell]:
    """Yield the function that notifies another service, if one is configured."""
    s = house.settings
    if not s.pipeline_url:
        yield lambda _: None
        return
    service = PipelineWebhook(s.pipeline_url, Path(s.ca_file) if s.ca_file else None)
    announcer = PipelineNotifier(service.post, house.clock)
    telling = asyncio.create_task(announcer.run())
    try:
        yield announcer.tell
    finally:
        await announcer.drained()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await service.close()
