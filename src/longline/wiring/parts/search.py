"""The indexer and its notifications, from the parts of the house."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from longline.drivers.search.index_webhook import IndexWebhook
from longline.engine.search.index_notifier import IndexNotifier
from longline.engine.search.indexer import Indexer, Notify
from longline.wiring.house import House


@asynccontextmanager
async def indexing(house: House) -> AsyncIterator[Indexer]:
    """Yield the indexer, which notifies the service that the operator named."""
    async with _announcing(house) as announce:
        yield Indexer(house.records.items, house.search, house.settings.index_batch, announce)


@asynccontextmanager
async def _announcing(house: House) -> AsyncIterator[Notify]:
    """Yield the function that notifies another service, if one is configured."""
    s = house.settings
    if not s.pipeline_url:
        yield lambda _: None
        return
    service = IndexWebhook(s.pipeline_url, Path(s.ca_file) if s.ca_file else None)
    notifier = IndexNotifier(service.post, house.clock)
    telling = asyncio.create_task(notifier.run())
    try:
        yield notifier.notify
    finally:
        await notifier.drained()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await service.close()
