"""The HTML archive, from the parts of the platform."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from longline.drivers.blobs import open_blobs
from longline.engine.archive.html_archive import HtmlArchive
from longline.wiring.platform import Platform


@asynccontextmanager
async def html_archiving(platform: Platform) -> AsyncIterator[HtmlArchive | None]:
    """Yield the HTML archive, if one is configured; at the end, queued responses are stored first."""
    s = platform.settings
    if not s.html_archive:
        yield None
        return
    archive = HtmlArchive(open_blobs(s.html_archive), open_blobs(s.html_facts or s.html_archive), platform.clock)
    storing = asyncio.create_task(archive.run())
    try:
        yield archive
    finally:
        await archive.drained()
        storing.cancel()
        await asyncio.gather(storing, return_exceptions=True)
