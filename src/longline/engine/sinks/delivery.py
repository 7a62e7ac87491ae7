"""Delivery of items to one sink, by one process at a time.

The position of a sink in a run is stored after the receiver has confirmed the items. A kill in between sends at most
one batch again, each item under its former id.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from longline.engine.loop_supervisor import Loop, cancel_on_stop, chore, run_loops
from longline.model.back_off import back_off
from longline.model.errors import StaleLease
from longline.model.search.item import UNINDEXED_KINDS, RunItem
from longline.model.sinks.sink import (
    FIRST_RETRY_MS,
    LEASE_MS,
    MAX_REFUSALS,
    MAX_RETRY_MS,
    SinkAddress,
    SinkBacklog,
    SinkLease,
    SinkRow,
    sink_item,
)
from longline.ports.clock import Clock
from longline.ports.records.search import ItemStore
from longline.ports.sinks import Sink, SinkFailed, SinkRunStore, SinkStore

log = logging.getLogger(__name__)

RENEW_INTERVAL_SECONDS = LEASE_MS / 3000
LOOK_INTERVAL_SECONDS = 0.5
ASSIGN_INTERVAL_SECONDS = 0.5
SEEN_INTERVAL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AddressedSink:
    """A sink and its address."""

    address: SinkAddress
    sink: Sink


class SinkDelivery:
    """The delivery of items to one sink: of the runs that are assigned to it, or of one run."""

    def __init__(self, target: AddressedSink, store: SinkStore, items: ItemStore, owner: int) -> None:
        self._target, self._store, self._items, self._owner = target, store, items, owner
        self._row: SinkRow | None = None
        self._run_id: int | None = None
        self._progressed = False
        self._refusals = 0
        self.problem = ""
        """The last failure of the sink in this process, without secrets; empty after a delivery."""

    @property
    def label(self) -> str:
        """Return the address of the sink without secrets."""
        return self._target.address.label

    async def open(self, run_id: int | None = None) -> int:
        """Register the sink, for one run if `run_id` is given, and return its id."""
        if self._row is None:
            address, self._run_id = self._target.address, run_id
            registered = self._store.register(address) if run_id is None else self._store.register_for(address, run_id)
            self._row = await registered
        return self._row.id

    async def once(self) -> int:
        """Deliver all waiting items; return the number of delivered items.

        A failure of the sink is stored and logged; the next attempt is due later.
        """
        sink_id = await self.open()
        if not await self._due(sink_id):
            return 0
        lease = await self._store.claim(sink_id, self._owner, LEASE_MS)
        if lease is None:
            return 0
        self._progressed, self._refusals = False, 0
        try:
            return await self._while_renewed(lease, self._deliver_all(lease))
        except SinkFailed as error:
            await self._fail(lease, error)
        except StaleLease:
            log.info("sink taken over by another process", extra={"sink": self.label})
        finally:
            await self._store.release(lease)
        return 0

    async def waiting(self) -> int:
        """Return the number of positions of the run that wait for the sink."""
        run = await self._store.backlog_of(await self.open(), self._run_id or 0, held=True)
        return run.last - run.position if run else 0

    async def _due(self, sink_id: int) -> bool:
        if self._run_id is None:
            return await self._store.due(sink_id, self._owner)
        return await self._store.backlog_of(sink_id, self._run_id) is not None

    async def _backlog(self, sink_id: int) -> list[SinkBacklog]:
        if self._run_id is None:
            return await self._store.backlog(sink_id)
        run = await self._store.backlog_of(sink_id, self._run_id)
        return [run] if run else []

    async def _deliver_all(self, lease: SinkLease) -> int:
        """Deliver one batch of each waiting run in turn, so that a long run holds back no other."""
        delivered = 0
        while runs := await self._backlog(lease.sink_id):
            for run in runs:
                delivered += await self._deliver_batch(lease, run)
        return delivered

    async def _deliver_batch(self, lease: SinkLease, run: SinkBacklog) -> int:
        found = await self._items.of_run(
            run.run_id, after=run.position, until=run.last, limit=self._target.sink.batch_size
        )
        wanted = [item for item in found if item.kind not in UNINDEXED_KINDS]
        # A run may end with entries that count no more.
        last = found[-1].position if found else run.last
        try:
            if wanted:
                await self._send(wanted)
        except SinkFailed as error:
            if error.delivered:
                await self._advance(lease, run, wanted[error.delivered - 1].position, error.delivered)
            if not error.refused:
                raise
            await self._refuse(lease, run, wanted[error.delivered], error)
            if self._refusals >= MAX_REFUSALS:
                raise
            return error.delivered
        await self._advance(lease, run, last, len(wanted))
        return len(wanted)

    async def _send(self, items: Sequence[RunItem]) -> None:
        if self._row is None:
            raise RuntimeError("a sink is opened before items are sent to it")
        row = self._row
        try:
            await self._target.sink.deliver([sink_item(row, item) for item in items])
        except SinkFailed as error:
            self.problem = self._target.address.masked(str(error))
            raise
        except Exception as error:
            # A fault of a driver or of a foreign library: the sink is tried again later, like any that fails.
            self.problem = self._target.address.masked(f"{type(error).__name__}: {error}")
            raise SinkFailed(self.problem) from None
        self.problem = ""

    async def _advance(self, lease: SinkLease, run: SinkBacklog, position: int, count: int) -> None:
        await self._store.advance(lease, run.run_id, position, count)
        self._progressed, self._refusals = True, 0

    async def _refuse(self, lease: SinkLease, run: SinkBacklog, item: RunItem, error: SinkFailed) -> None:
        """Hold back one run after the sink refused its next item; the other runs go on."""
        failures = 0 if error.delivered else run.failures
        wait, self._refusals = _retry_ms(failures, error), self._refusals + 1
        await self._store.refuse(lease, run.run_id, item.position, self.problem, wait)
        log.warning(
            "sink refused an item, its run waits; longline sinks skip leaves the item out",
            extra={
                "sink": self.label,
                "sink_id": lease.sink_id,
                "run": run.run_id,
                "position": item.position,
                "url": item.url,
                "error": self.problem,
                "failures": failures + 1,
                "retry_seconds": wait / 1000,
            },
        )

    async def _fail(self, lease: SinkLease, error: SinkFailed) -> None:
        # A delivery of some items before the failure has reset the stored number of failures.
        failures = 0 if self._progressed else lease.failures
        wait = _retry_ms(failures, error)
        await self._store.fail(lease, self.problem, wait)
        log.warning(
            "sink failed, delivery is tried again",
            extra={"sink": self.label, "error": self.problem, "failures": failures + 1, "retry_seconds": wait / 1000},
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


def _retry_ms(failures: int, error: SinkFailed) -> int:
    wait = back_off(FIRST_RETRY_MS, failures, MAX_RETRY_MS)
    if error.retry_after_seconds is None:
        return wait
    # A receiver may ask for an infinity, which no whole number has.
    return max(wait, round(min(error.retry_after_seconds * 1000, MAX_RETRY_MS)))


class SinkAssignment:
    """The assignment of runs with new items to the sinks of the settings."""

    def __init__(self, deliveries: Sequence[SinkDelivery], runs: SinkRunStore, clock: Clock) -> None:
        self._deliveries, self._runs, self._clock = deliveries, runs, clock
        self._seen_at = clock.monotonic()

    async def once(self) -> int:
        """Assign runs with new items; return their number."""
        if self._clock.monotonic() - self._seen_at > SEEN_INTERVAL_SECONDS:
            await self._runs.see([await delivery.open() for delivery in self._deliveries])
            self._seen_at = self._clock.monotonic()
        total = 0
        while assigned := await self._runs.assign_new():
            total += assigned
        return total


def delivery_loop(deliveries: Sequence[SinkDelivery], assignment: SinkAssignment) -> Loop:
    """Return a loop that delivers to all sinks side by side: a sink that is away holds back no other."""
    loops = {
        f"sink {number} {delivery.label}": cancel_on_stop(chore(delivery.once, LOOK_INTERVAL_SECONDS))
        for number, delivery in enumerate(deliveries)
    }
    loops["new items for sinks"] = chore(assignment.once, ASSIGN_INTERVAL_SECONDS)

    async def loop(stop: asyncio.Event) -> None:
        await run_loops(loops, stop)

    return loop
