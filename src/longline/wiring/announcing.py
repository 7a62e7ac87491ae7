"""Telling another service what was indexed, from the parts of the house."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from longline.drivers.pipeline import PipelineService
from longline.engine.announcer import Announcer
from longline.engine.index import Indexer
from longline.wiring.house import House


@asynccontextmanager
async def indexing(house: House) -> AsyncIterator[Indexer]:
    """The chore that brings the index up to date, and tells whom the operator named."""
    s = house.settings
    if not s.pipeline_url:
        yield house.indexer
        return
    service = PipelineService(s.pipeline_url, Path(s.ca_file) if s.ca_file else None)
    announcer = Announcer(service.post, house.clock)
    telling = asyncio.create_task(announcer.run())
    try:
        yield Indexer(house.records.items, house.search, s.index_batch, announcer.tell)
    finally:
        await announcer.drained()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await service.close()
