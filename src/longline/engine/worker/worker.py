"""A worker: leases hosts, runs their tasks through the stages, reports in batches, and goes on.

Memory is bounded by the leases. The results of a host are dropped with a lost lease: the new holder will bring them.
On stop no task is started, tasks in flight may end, and every lease is released.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from longline.engine.archive.page_records import RecordBuilder
from longline.engine.downloads.disputed_files import DisputedFiles
from longline.engine.downloads.file_places import FilePlace, FilePlaces
from longline.engine.fetch.request_sender import LeaseLost
from longline.engine.frontier.claims import WorkClaims, WorkerSettings
from longline.engine.frontier.leased_hosts import FreePlaces, LeasedHost, TaskWithdrawn, TooSoon
from longline.engine.frontier.work_requests import WorkRequest
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.metrics import MetricCounters
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.worker.finished_task import Finished, FinishedBatch
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Delivered, Reporter
from longline.model.errors import Unavailable
from longline.model.frontier.task import ClaimedTask
from longline.model.metrics.metric import LEASES_LOST
from longline.model.states import TaskState
from longline.ports.clock import Clock

log = logging.getLogger(__name__)

MAX_WAITING_PER_PLACE = 2
"""Largest number of pages that wait to be parsed, as a multiple of the concurrency."""

MAX_HEAVY_LINKS = 20_000
"""Largest number of links of heavy pages in one report: other pages wait for the same report."""


@dataclass(slots=True)
class Progress:
    """The counts of a worker's results so far, for a progress display."""

    pages: int = 0
    bytes: int = 0
    retries: int = 0
    failed: int = 0
    skipped: int = 0
    inflight: int = 0

    def add(self, finished: Iterable[Finished]) -> None:
        """Add reported tasks."""
        for f in finished:
            rest = f.rest
            self.pages += f.page is not None
            self.bytes += len(f.page.response.body) if f.page else 0
            self.bytes += f.download.stored.bytes if f.download and f.download.stored else 0
            self.retries += rest is TaskState.PENDING and f.fetched.redirected_to is None
            self.failed += rest is TaskState.FAILED
            self.skipped += rest is TaskState.SKIPPED


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The collaborators of a worker."""

    lifecycle: Lifecycle
    pipeline: Pipeline
    reporter: Reporter
    proxies: ProxyRotation
    clock: Clock
    owner: int
    work_request: WorkRequest | None = None
    metrics: MetricCounters = field(default_factory=MetricCounters)
    disputed_files: DisputedFiles | None = None

    def dispute(self, finished: Iterable[Finished]) -> None:
        """Remember files that were stored, though their report is not sent: another worker may have the task."""
        for f in finished if self.disputed_files is not None else ():
            if f.download is not None and f.download.stored is not None and self.disputed_files is not None:
                self.disputed_files.add(f.task.id, f.download.stored)


class Worker:
    """The loop of one worker; `hand` is the set of hosts that the worker holds."""

    def __init__(
        self, parts: WorkerParts, settings: WorkerSettings, watch: Callable[[Progress], None] | None = None
    ) -> None:
        self._parts, self._settings, self._watch = parts, settings, watch
        self.proxies = parts.proxies
        self._clock, self._lifecycle = parts.clock, parts.lifecycle
        self._claims = WorkClaims(parts.lifecycle, parts.clock, parts.owner, settings)
        self.hand = self._claims.hand
        self._finished: list[Finished] = []
        self._record_builder = RecordBuilder()
        self._oldest_finished_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._released_hosts: list[LeasedHost] = []
        self._wake = asyncio.Event()
        self._files = FilePlaces(settings.downloads, self._wake.set)
        self._trouble: Unavailable | None = None
        self.progress = Progress()

    @property
    def obstacle(self) -> Unavailable | None:
        """Return the reason why work cannot be claimed, begun or reported at the moment."""
        return self._parts.reporter.trouble or self._claims.trouble or self._trouble

    def wake(self) -> None:
        """Look for new work now instead of at the next poll."""
        self._claims.next = 0.0
        self._wake.set()

    def share(self) -> None:
        """Release hosts to an idle worker, if this worker has enough tasks."""
        self._claims.share()
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then report everything and release every host."""
        beat = asyncio.create_task(self._renew_until_end(), name="heartbeat")
        waker = asyncio.create_task(self._wake_on(stop), name="stop")
        try:
            while not stop.is_set():
                if not self._full:
                    self._claims.if_low(self._wake.set, self._parts.work_request, self._places.files)
                self._start_tasks()
                self._flush_if_due()
                await self._sleep()
        finally:
            try:
                await self._drain()
            finally:
                await _cancel_all(waker, beat)

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    # -- claims and starts --------------------------------------------------------------------------------------

    @property
    def _full(self) -> bool:
        """Return whether so many pages wait to be reported that no more may be fetched."""
        return len(self._finished) >= 8 * self._settings.concurrency

    @property
    def _places(self) -> FreePlaces:
        """Return how many more tasks may be in flight; pages that wait to be parsed leave their places to others."""
        if self._full:
            return FreePlaces(0)
        concurrency, pages = self._settings.concurrency, len(self._tasks) - self._files.taken - self._files.storing
        parked = min(self._parts.pipeline.waiting, pages, MAX_WAITING_PER_PLACE * concurrency)
        return FreePlaces(concurrency - pages + parked, self._files.free)

    def _start_tasks(self) -> None:
        """Start every task that may start now."""
        now, places = self._clock.monotonic(), self._places
        while found := self.hand.next_task(now, places):
            host, task = found
            host.tasks.begin(task)
            place = self._files.take(host) if task.download is not None else None
            host.inflight += place is None
            places = FreePlaces(places.pages - (place is None), self._files.free)
            running = asyncio.create_task(self._process_task(host, task, place))
            self._tasks.add(running)
            running.add_done_callback(self._task_ended)
        self.progress.inflight = len(self._tasks)

    def _task_ended(self, task: "asyncio.Task[None]") -> None:
        # Only now: woken any earlier, the loop would find the task still under way and go back to sleep.
        self._tasks.discard(task)
        self._wake.set()

    async def _process_task(self, host: LeasedHost, task: ClaimedTask, place: FilePlace | None) -> None:
        """Run one task through the stages, up to the wait for its report."""
        try:
            finished = await self._parts.pipeline.run(host, task, place)
            self._trouble = None
            if task.mark in host.tasks.withdrawn:
                self._parts.dispute([finished])
                return  # its report would be refused, and with it the report of every other page
            if not self._finished:
                self._oldest_finished_at = self._clock.monotonic()
            self._finished.append(finished)
            host.heavy_pages += bool(finished.heavy_links)
            if finished.page is not None:
                self._record_builder.add(finished.prepare)
        except LeaseLost:
            host.lost = True
        except TaskWithdrawn:
            log.debug("task withdrawn", extra={"url": task.url})
            host.tasks.give_back(task)
        except TooSoon:
            host.tasks.put_back(task)
        except asyncio.CancelledError:
            if task.download is not None:  # a long download is begun anew by another worker, as if for the first time
                host.tasks.put_back(task)
            raise
        except Unavailable as error:
            log.warning("task not started, engine unavailable", extra={"url": task.url, "error": str(error)})
            self._trouble = error
            host.tasks.put_back(task)
            host.pause(self._settings.idle_poll, self._clock.monotonic())
        finally:
            _end_task(host, task, place)

    # -- reports ------------------------------------------------------------------------------------------------

    def _flush_if_due(self) -> None:
        now = self._clock.monotonic()
        if self._flushing is None and self._flush_due(now):
            batch = self._take_finished(now)
            self._released_hosts = [host for host, _ in batch.released.values()]
            self._flushing = asyncio.create_task(self._flush(batch), name="flush")
            self._flushing.add_done_callback(self._flushed)

    def _flushed(self, task: "asyncio.Task[None]") -> None:
        self._flushing, self._released_hosts = None, []
        self._wake.set()
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, Unavailable):
            log.warning("report failed", extra={"error": str(error)})
        else:
            log.error("report failed", exc_info=error)

    def _flush_due(self, now: float) -> bool:
        if not self._has_to_flush(now):
            return False
        if len(self._finished) >= self._settings.flush_pages:
            return True
        # With no task in flight a report need not wait: the links in it may be the only work there is.
        if not self._tasks and not any(h.startable(now) for h in self.hand):
            return True
        return now - self._oldest_finished_at >= self._settings.flush_after

    def _has_to_flush(self, now: float) -> bool:
        return bool(self._finished) or any(h.idle(now) or h.lost or h.tasks.returned for h in self.hand)

    def _take_finished(self, now: float, *, everything: bool = False) -> FinishedBatch:
        """Take the finished tasks, and the hosts that have no task to start for now."""
        for host in self.hand:
            if host.lost:
                self.hand.drop(host.lease.host_id)
        present = [f for f in self._finished if not f.host.lost]
        self._parts.dispute([f for f in self._finished if f.host.lost])
        finished, self._finished = (present, []) if everything else _split_by_links(present)
        self._oldest_finished_at = now
        for f in finished:
            f.host.heavy_pages -= bool(f.heavy_links)
        leaving = [h for h in self.hand if h.idle(now) or everything]
        given_back = {h.lease.host_id: (h, h.tasks.take_returned()) for h in self.hand if h.tasks.returned}
        released = {h.lease.host_id: (h, h.tasks.unstarted) for h in leaving}
        self.hand.drop(*released)
        return FinishedBatch(finished, released, given_back)

    async def _flush(self, batch: FinishedBatch) -> None:
        await _write_results(self._parts.proxies)
        delivered = await self._parts.reporter.deliver(batch)
        written = {id(f) for done, _ in delivered for f in done.finished}
        self._parts.dispute([f for f in batch.finished if id(f) not in written])
        self._count_delivered(delivered)

    def _count_delivered(self, delivered: Delivered) -> None:
        for done, reported in delivered:
            self.progress.add(done.finished)
            self._claims.reported((host for host, _ in done.released.values()), more=reported.admitted.new > 0)
        if self._watch is not None and delivered:
            self._watch(self.progress)

    async def _sleep(self) -> None:
        """Sleep until a start, a claim or a report is due, or the loop is woken."""
        now = self._clock.monotonic()
        moments = [self._claims.next if self._claims.next > now else now + self._settings.idle_poll]
        if (soon := self.hand.next_time(now, self._places)) is not None:
            moments.append(soon)
        if self._flushing is None and self._has_to_flush(now):
            moments.append(self._oldest_finished_at + self._settings.flush_after)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), max(0.001, min(moments) - now))
        self._wake.clear()

    # -- leases and shutdown ------------------------------------------------------------------------------------

    async def _renew_until_end(self) -> None:
        """Renew the leases until the worker ends."""
        while True:
            await self._clock.sleep(self._settings.lease / 3)
            try:
                await self._renew_leases()
                if self._parts.disputed_files is not None:
                    await self._parts.disputed_files.settle()
            except Unavailable as error:
                log.warning("lease renewal failed", extra={"error": str(error)})
            except Exception:
                log.exception("lease renewal failed")  # after any error the next beat must come

    async def _renew_leases(self) -> None:
        """Extend every lease, also of hosts that are being released; mark a host that is no longer held as lost."""
        hosts = {h.lease.host_id: h for h in [*self._released_hosts, *self.hand] if not h.lost}
        asked_at = self._clock.monotonic()
        renewed = await self._lifecycle.renew(
            self._parts.owner, [(i, h.lease.token) for i, h in hosts.items()], round(self._settings.lease * 1000)
        )
        for host_id, host in hosts.items():
            if host_id in renewed:
                host.renewed(asked_at, self._settings.lease)
            elif self.hand.holds(host):
                self._parts.metrics.add(LEASES_LOST)
                log.warning("host lease lost", extra={"host": host.lease.host})
                host.lost = True

    async def _drain(self) -> None:
        """Let tasks in flight end, then report everything and release every host."""
        self._parts.reporter.leaving = True
        # A pending claim is waited for: the hosts that it leases must be released.
        claiming = self._claims.under_way
        if under_way := [*self._tasks, *([claiming] if claiming else [])]:
            await asyncio.wait(under_way, timeout=self._settings.drain)
        await _cancel_all(*self._tasks, *([claiming] if claiming else []))
        try:
            async with asyncio.timeout(self._settings.drain):
                if self._flushing is not None:
                    await asyncio.wait([self._flushing])
                await self._flush(self._take_finished(self._clock.monotonic(), everything=True))
        except TimeoutError:
            log.warning("report not finished before the shutdown deadline")
        if self._flushing is not None:
            await _cancel_all(self._flushing)


def _end_task(host: LeasedHost, task: ClaimedTask, place: FilePlace | None) -> None:
    """Note that a task is no longer in flight."""
    host.tasks.end(task)
    if place is not None:
        place.end()
    else:
        host.inflight -= 1


def _split_by_links(finished: Sequence[Finished]) -> tuple[list[Finished], list[Finished]]:
    """Return the pages of the next report and the pages of a later one.

    A report has at most one heavy page of each host, and MAX_HEAVY_LINKS of their links unless one page has more.
    """
    now_reported: list[Finished] = []
    left_for_later: list[Finished] = []
    links, hosts = 0, set[int]()
    for page in finished:
        heavy, host_id = page.heavy_links, page.host.lease.host_id
        if heavy and links and (host_id in hosts or links + heavy > MAX_HEAVY_LINKS):
            left_for_later.append(page)
            continue
        now_reported.append(page)
        if heavy:
            links += heavy
            hosts.add(host_id)
    return now_reported, left_for_later


async def _write_results(proxies: ProxyRotation) -> None:
    """Write the results of proxies; no page's report depends on them, so a failure waits for the next flush."""
    try:
        await proxies.write_results()
    except Unavailable as error:
        log.warning("proxy results not written", extra={"error": str(error)})


async def _cancel_all(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
