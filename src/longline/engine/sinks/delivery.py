"""Delivery of items to one sink, by one process at a time.

The position of a sink in a run is stored after the receiver has confirmed the items. A kill in between sends at most
one batch again, each item under its former id.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from longline.engine.loops import Loop, cancel_on_stop, chore, run_loops
from longline.model.back_off import back_off
from longline.model.errors import StaleLease
from longline.model.search.item import UNINDEXED_KINDS
from longline.model.sinks.sink import (
    FIRST_RETRY_MS,
    MAX_RETRY_MS,
    SinkAddress,
    SinkBacklog,
    SinkLease,
    SinkRow,
    sink_item,
)
from longline.ports.records.search import ItemStore
from longline.ports.sinks import Sink, SinkFailed, SinkStore

log = logging.getLogger(__name__)

LEASE_MS = 30_000
RENEW_INTERVAL_SECONDS = LEASE_MS / 3000
LOOK_INTERVAL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class AddressedSink:
    """A sink and its address."""

    address: SinkAddress
    sink: Sink


class SinkDelivery:
    """The delivery of items to one sink: of all runs, or of one run."""

    def __init__(self, target: AddressedSink, store: SinkStore, items: ItemStore, owner: int) -> None:
        self._target, self._store, self._items, self._owner = target, store, items, owner
        self._row: SinkRow | None = None
        self._progressed = False

    @property
    def label(self) -> str:
        """Return the address of the sink without secrets."""
        return self._target.address.label

    async def once(self, run_id: int | None = None) -> int:
        """Deliver all waiting items, of one run if `run_id` is given; return the number of delivered items.

        A failure of the sink is stored and logged; the next attempt is due later.
        """
        row = await self._registered()
        if not await self._store.backlog(row.id, run_id, 1):
            return 0
        lease = await self._store.claim(row.id, self._owner, LEASE_MS)
        if lease is None:
            return 0
        self._progressed = False
        try:
            return await self._while_renewed(lease, self._deliver_all(row, lease, run_id))
        except SinkFailed as error:
            await self._fail(lease, error)
        except StaleLease:
            log.info("sink taken over by another process", extra={"sink": self.label})
        finally:
            await self._store.release(lease)
        return 0

    async def waiting(self, run_id: int) -> int:
        """Return the number of positions of a run that wait for the sink."""
        row = await self._registered()
        return sum(run.last - run.position for run in await self._store.backlog(row.id, run_id))

    async def _registered(self) -> SinkRow:
        if self._row is None:
            self._row = await self._store.register(self._target.address)
        return self._row

    async def _deliver_all(self, row: SinkRow, lease: SinkLease, run_id: int | None) -> int:
        """Deliver one batch of each waiting run in turn, so that a long run holds back no other."""
        delivered = 0
        while runs := await self._store.backlog(row.id, run_id):
            for run in runs:
                delivered += await self._deliver_batch(row, lease, run)
        return delivered

    async def _deliver_batch(self, row: SinkRow, lease: SinkLease, run: SinkBacklog) -> int:
        limit = self._target.sink.batch_size
        found = await self._items.of_run(run.run_id, after=run.position, until=run.last, limit=limit)
        wanted = [item for item in found if item.kind not in UNINDEXED_KINDS]
        # A run may end with entries that count no more.
        last = found[-1].position if found else run.last
        try:
            if wanted:
                await self._target.sink.deliver([sink_item(row, item) for item in wanted])
        except SinkFailed as error:
            if error.delivered:
                await self._advance(lease, run, wanted[error.delivered - 1].position, error.delivered)
            raise
        await self._advance(lease, run, last, len(wanted))
        return len(wanted)

    async def _advance(self, lease: SinkLease, run: SinkBacklog, position: int, count: int) -> None:
        await self._store.advance(lease, run.run_id, position, count)
        self._progressed = True

    async def _fail(self, lease: SinkLease, error: SinkFailed) -> None:
        # A delivery of some items before the failure has reset the stored number of failures.
        failures = 0 if self._progressed else lease.failures
        wait = back_off(FIRST_RETRY_MS, failures, MAX_RETRY_MS)
        if error.retry_after_seconds is not None:
            wait = min(max(wait, round(error.retry_after_seconds * 1000)), MAX_RETRY_MS)
        await self._store.fail(lease, str(error), wait)
        log.warning(
            "sink failed, delivery is tried again",
            extra={"sink": self.label, "error": str(error), "failures": failures + 1, "retry_seconds": wait / 1000},
        )

    async def _while_renewed(self, lease: SinkLease, work: Coroutine[None, None, int]) -> int:
        """Return the result of a delivery while its lease is renewed; a lost lease cancels it with `StaleLease`."""
        working, renewing = asyncio.create_task(work), asyncio.create_task(self._renew(lease))
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
            return await (working if working.done() else renewing)
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def _renew(self, lease: SinkLease) -> int:
        while True:
            await asyncio.sleep(RENEW_INTERVAL_SECONDS)
            await self._store.renew(lease, LEASE_MS)


def delivery_loop(deliveries: Sequence[SinkDelivery]) -> Loop:
    """Return a loop that delivers to all sinks side by side: a sink that is away holds back no other."""
    loops = {
        f"sink {delivery.label}": cancel_on_stop(chore(delivery.once, LOOK_INTERVAL_SECONDS)) for delivery in deliveries
    }

    async def loop(stop: asyncio.Event) -> None:
        await run_loops(loops, stop)

    return loop
