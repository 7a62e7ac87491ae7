"""A worker: leases hosts, runs their tasks through the stages, reports in batches, and goes on.

Memory is bounded by what was leased. A lease that is lost takes its host's results with it: whoever holds the host now
will bring them. On stop nothing new is started, what is under way may end, and every lease goes back.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from longline.engine.fetch import Fetched, Fetcher, LeaseLost
from longline.engine.frontier import Hand, HeldHost
from longline.engine.keep import keep_page
from longline.engine.lifecycle import Lifecycle
from longline.engine.parse import Parsed, Parser
from longline.engine.plans import Plans
from longline.engine.reporter import Finished, Reporter, Sheaf
from longline.model.errors import Unavailable
from longline.model.fate import OK
from longline.model.states import TaskState
from longline.model.task import ClaimedTask
from longline.plugins import Page
from longline.ports.clock import Clock
from longline.ports.records.frontier import Reported

log = logging.getLogger(__name__)


class WorkerSettings(msgspec.Struct, frozen=True):
    """How much a worker takes on. Times are seconds."""

    concurrency: int = 64
    lease: float = 30.0
    hosts_per_claim: int = 16
    tasks_per_host: int = 64
    flush_after: float = 1.0
    flush_pages: int = 256
    idle_poll: float = 0.5
    drain: float = 5.0
    parse: bool = True


@dataclass(slots=True)
class Progress:
    """What a worker has done so far, for whoever watches."""

    pages: int = 0
    bytes: int = 0
    retries: int = 0
    failed: int = 0
    skipped: int = 0
    inflight: int = 0
    ended_runs: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a worker works with."""

    lifecycle: Lifecycle
    plans: Plans
    fetcher: Fetcher
    parser: Parser
    reporter: Reporter
    clock: Clock
    owner: int


class Worker:
    """One worker's loop."""

    def __init__(self, parts: Parts, settings: WorkerSettings, watch: Callable[[Progress], None] | None = None) -> None:
        self._parts, self._settings, self._watch = parts, settings, watch
        self._clock, self._lifecycle = parts.clock, parts.lifecycle
        self._plans = parts.plans
        self._hand = Hand()
        self._finished: list[Finished] = []
        self._oldest = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._next_claim = 0.0
        self.progress = Progress()

    def nudge(self) -> None:
        """There may be new work: look now instead of at the next poll."""
        self._next_claim = 0.0
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop, then let everything go."""
        beat = asyncio.create_task(self._beat(), name="heartbeat")
        waker = asyncio.create_task(self._wake_on(stop), name="stop")
        try:
            while not stop.is_set():
                await self._fill()
                self._start()
                self._flush_if_due()
                await self._rest()
        finally:
            waker.cancel()
            await self._drain()
            beat.cancel()
            for task in (waker, beat):
                with suppress(asyncio.CancelledError):
                    await task

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    # -- taking work ------------------------------------------------------------------------------------------

    async def _fill(self) -> None:
        """Lease more hosts when what is in hand runs low."""
        now = self._clock.monotonic()
        room = self._settings.concurrency * 2
        if (
            now < self._next_claim
            or self._hand.waiting >= self._settings.concurrency
            or len(self._finished) >= 4 * room
        ):
            return
        s = self._settings
        try:
            leases = await self._lifecycle.claim(
                self._parts.owner, s.hosts_per_claim, s.tasks_per_host, round(s.lease * 1000)
            )
        except Unavailable as error:
            log.warning("cannot claim work", extra={"error": str(error)})
            leases = []
        answered = self._clock.monotonic()
        for lease in leases:
            self._hand.add(HeldHost(lease, s.lease, now, answered))
        if not leases:
            self._next_claim = answered + s.idle_poll

    def _start(self) -> None:
        """Start every task that may start now."""
        now = self._clock.monotonic()
        while len(self._tasks) < self._settings.concurrency and (found := self._hand.next_task(now)):
            host, task = found
            host.inflight += 1
            running = asyncio.create_task(self._process(host, task))
            self._tasks.add(running)
            running.add_done_callback(self._tasks.discard)
        self.progress.inflight = len(self._tasks)

    async def _process(self, host: HeldHost, task: ClaimedTask) -> None:
        """One URL's way through the stages, up to where it waits to be reported."""
        try:
            finished = await self._work(host, task)
            if not self._finished:
                self._oldest = self._clock.monotonic()
            self._finished.append(finished)
        except LeaseLost:
            host.lost = True
        finally:
            host.inflight -= 1
            self._wake.set()

    async def _work(self, host: HeldHost, task: ClaimedTask) -> Finished:
        plan = await self._plans.get(task.run_id)
        if task.attempt > plan.max_attempts:
            lost = Fetched("worker_lost", self._clock.now(), error="every worker that tried this page was lost")
            return Finished(host, task, plan, lost, Parsed(), None)
        try:
            fetched = await self._parts.fetcher.fetch(host, task.url, plan)
            parsed = await self._parse(fetched)
        except LeaseLost:
            raise
        except Exception as error:
            log.exception("a task failed in a way nobody foresaw", extra={"url": task.url})
            fetched, parsed = Fetched("internal", self._clock.now(), error=repr(error)), Parsed()
        return Finished(host, task, plan, fetched, parsed, keep_page(fetched, parsed.title if parsed else ""))

    async def _parse(self, fetched: Fetched) -> Parsed | None:
        if fetched.reason != OK or fetched.response is None:
            return Parsed()
        if not self._settings.parse:
            return None
        response = fetched.response
        page = Page(response.url, fetched.body, status=response.status, headers=response.headers)
        return await self._parts.parser.parse(page)

    # -- bringing it back -------------------------------------------------------------------------------------

    def _flush_if_due(self) -> None:
        if self._flushing is None and self._flush_due(self._clock.monotonic()):
            self._flushing = asyncio.create_task(self._flush(self._gather()), name="flush")
            self._flushing.add_done_callback(self._flushed)

    def _flushed(self, task: "asyncio.Task[None]") -> None:
        self._flushing = None
        self._wake.set()
        if not task.cancelled() and (error := task.exception()):
            log.error("a report failed", exc_info=error)

    def _flush_due(self, now: float) -> bool:
        if not self._finished and not any(h.idle or h.lost for h in self._hand):
            return False
        if len(self._finished) >= self._settings.flush_pages:
            return True
        # With nothing under way there is nothing to wait for: what was found may be the only work there is.
        if not self._tasks and not any(h.startable(now) for h in self._hand):
            return True
        return bool(self._finished) and now - self._oldest >= self._settings.flush_after

    def _gather(self, *, everything: bool = False) -> Sheaf:
        """Take what is finished, and the hosts on which nothing is left to do."""
        for host in self._hand:
            if host.lost:
                self._hand.drop(host.lease.host_id)
        finished, self._finished = [f for f in self._finished if not f.host.lost], []
        leaving = [h for h in self._hand if h.idle or everything]
        released = {h.lease.host_id: (h, tuple(h.waiting)) for h in leaving}
        for host in leaving:
            self._hand.drop(host.lease.host_id)
        return Sheaf(finished, released)

    async def _flush(self, sheaf: Sheaf) -> None:
        """Report, and try again while the engines are away: the leases say for how long that makes sense."""
        wait = 0.2
        while sheaf.finished or sheaf.released:
            try:
                done, reported = await self._parts.reporter.report(sheaf)
            except Unavailable as error:
                log.warning("cannot report, will try again", extra={"error": str(error)})
                await self._clock.sleep(wait)
                wait = min(wait * 2, 5.0)
                continue
            self._note(done, reported)
            return

    def _note(self, done: Sheaf, reported: Reported) -> None:
        p = self.progress
        for f in done.finished:
            kept = f.page is not None
            p.pages += kept
            p.bytes += f.page.facts.body_bytes if f.page else 0
            rest = f.rest
            p.retries += rest == TaskState.PENDING
            p.failed += rest == TaskState.FAILED
            p.skipped += rest == TaskState.SKIPPED
        p.ended_runs.update(reported.ended_runs)
        if reported.admitted.new or done.released:
            self._next_claim = 0.0
        if self._watch is not None:
            self._watch(p)

    async def _rest(self) -> None:
        """Sleep until something may have changed."""
        now = self._clock.monotonic()
        moments = [self._next_claim if self._next_claim > now else now + self._settings.idle_poll]
        if len(self._tasks) < self._settings.concurrency and (soon := self._hand.next_time(now)) is not None:
            moments.append(soon)
        if self._finished:
            moments.append(self._oldest + self._settings.flush_after)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), max(0.001, min(moments) - now))
        self._wake.clear()

    # -- staying and leaving ----------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Renew the leases in hand; a host that is no longer ours is given up at once."""
        while True:
            await self._clock.sleep(self._settings.lease / 3)
            held = {h.lease.host_id: h for h in self._hand if not h.lost}
            asked = self._clock.monotonic()
            try:
                kept = await self._lifecycle.renew(
                    self._parts.owner,
                    [(i, h.lease.token) for i, h in held.items()],
                    round(self._settings.lease * 1000),
                )
            except Unavailable as error:
                log.warning("cannot renew leases", extra={"error": str(error)})
                continue
            for host_id, host in held.items():
                if host_id in kept:
                    host.renewed(asked, self._settings.lease)
                elif self._hand.get(host_id) is host:
                    log.warning("lost a host", extra={"host": host.lease.host})
                    host.lost = True

    async def _drain(self) -> None:
        """Let what is under way end, then report everything and let every host go."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._settings.drain)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._flushing is not None:
            await asyncio.wait([self._flushing], timeout=self._settings.drain)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._flush(self._gather(everything=True)), self._settings.drain)
