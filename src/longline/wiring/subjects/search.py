"""The indexer and its notifications, from the parts of the platform."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from longline.drivers.search.index_webhook import IndexWebhook
from longline.engine.search.index_notifier import IndexNotifier
from longline.engine.search.indexer import Indexer, Notify
from longline.wiring.platform import Platform


@asynccontextmanager
async def indexing(platform: Platform) -> AsyncIterator[Indexer]:
    """Yield the indexer, which notifies the service that the operator named."""
    async with _announcing(platform) as announce:
        yield Indexer(platform.records.items, platform.search, platform.settings.index_batch, announce)


@asynccontextmanager
async def _announcing(platform: Platform) -> AsyncIterator[Notify]:
    """Yield the function that notifies another service, if one is configured."""
    s = platform.settings
    if not s.pipeline_url:
        yield lambda _: None
        return
    service = IndexWebhook(s.pipeline_url, Path(s.ca_file) if s.ca_file else None)
    notifier = IndexNotifier(service.post, platform.clock)
    telling = asyncio.create_task(notifier.run())
    try:
        yield notifier.notify
    finally:
        await notifier.drained()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await service.close()
