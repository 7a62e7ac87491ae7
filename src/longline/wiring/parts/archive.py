"""The HTML archive, from the parts of the house."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from longline.drivers.blobs import open_blobs
from longline.engine.archive.html_archive import HtmlArchive
from longline.wiring.house import House


@asynccontextmanager
async def html_archiving(house: House) -> AsyncIterator[HtmlArchive | None]:
    """Yield the HTML archive, if one is configured; at the end, queued responses are stored first."""
    s = house.settings
    if not s.html_archive:
        yield None
        return
    archive = HtmlArchive(open_blobs(s.html_archive), open_blobs(s.html_facts or s.html_archive), house.clock)
    storing = asyncio.create_task(archive.run())
    try:
        yield archive
    finally:
        await archive.drained()
        storing.cancel()
        await asyncio.gather(storing, return_exceptions=True)
