"""The counters of this process, and the figures of all processes."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from longline.engine.loops import chore, run_loops
from longline.model.errors import Unavailable
from longline.services.metrics.operation import OperationReader
from longline.wiring.house import House

FLUSH_INTERVAL_SECONDS = 5.0
"""Seconds between two additions of the counts of a process to the database."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def counting(house: House) -> AsyncIterator[None]:
    """Add the counts of this process to the database while the context lasts, and at its end."""

    async def flush() -> None:
        await house.metrics.flush(house.records.tallies)

    stop = asyncio.Event()
    flushing = asyncio.create_task(run_loops({"metric counters": chore(flush, FLUSH_INTERVAL_SECONDS)}, stop))
    try:
        yield
    finally:
        stop.set()
        await flushing
        try:
            await flush()
        except Unavailable as error:
            log.warning("last counts of metrics not stored", extra={"error": str(error)})


def operation(house: House) -> OperationReader:
    """Return the reader of the figures of all processes."""
    records, folder = house.records, house.settings.data
    return OperationReader(
        records.tallies,
        records.figures,
        records.workers,
        records.sinks,
        lambda: shutil.disk_usage(folder).free,
        house.clock,
    )
