"""Claims of one worker: it claims more when the leased tasks run low, and works on those meanwhile."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

import msgspec

from longline.engine.engine_clock import latest_monotonic
from longline.engine.frontier.leased_hosts import LeasedHost, LeasedHosts
from longline.engine.frontier.work_requests import WorkRequest
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.errors import Unavailable
from longline.ports.clock import Clock
from longline.ports.records.frontier.frontier import ClaimRequest

log = logging.getLogger(__name__)

LOOKAHEAD_SECONDS = 1.0
"""Seconds ahead for which a worker wants enough tasks; only tasks that may start in that time count."""

TASKS_AHEAD_PER_PLACE = 4
"""Tasks that must wait under a lease, as a multiple of the concurrency, so that no place is idle during a claim."""


FILES_AHEAD_PER_PLACE = 16
"""Largest number of files that wait under a lease, as a multiple of the places for files, while more are leased."""

CLOCK_MARGIN_SECONDS = 0.005
"""Seconds by which a host may be free later by the engine's clock than by the worker's."""


class WorkerSettings(msgspec.Struct, frozen=True):
    """The limits of one worker. Times are seconds.

    `downloads` files are downloaded at once, beside `concurrency` pages; without any, hosts with files are left alone.
    After `helpings` batches of tasks a host is released, so that waiting hosts have their turn.
    """

    concurrency: int = 64
    lease: float = 30.0
    hosts_per_claim: int = 4
    tasks_per_host: int = 64
    helpings: int = 16
    flush_after: float = 1.0
    flush_pages: int = 256
    idle_poll: float = 0.5
    drain: float = 5.0
    downloads: int = 0


class WorkClaims:
    """The claims that keep one worker supplied with tasks."""

    def __init__(self, lifecycle: Lifecycle, clock: Clock, owner: int, settings: WorkerSettings) -> None:
        self._lifecycle, self._clock, self._owner, self._settings = lifecycle, clock, owner, settings
        self.hand = LeasedHosts()
        self.next = 0.0
        self._free_again = 0.0
        self.under_way: asyncio.Task[None] | None = None
        self.trouble: Unavailable | None = None

    def if_low(self, wake: Callable[[], None], work_request: WorkRequest | None, free_for_files: int = 0) -> None:
        """Start a claim when the leased tasks run low; `wake` is called when the claim has ended.

        Hosts with files are leased while there are places for files, and fewer files wait than there are places.
        """
        now, s = self._clock.monotonic(), self._settings
        soon, most = self.hand.startable_within(now, LOOKAHEAD_SECONDS), s.concurrency * s.tasks_per_host
        low = soon < TASKS_AHEAD_PER_PLACE * s.concurrency and self.hand.waiting < most
        files = free_for_files > 0 and self._lacks_files(now) and self.hand.waiting < 2 * most
        if self.under_way is None and (low or files) and now >= self.next:
            asking = self.hand.hosts_to_refill(now, LOOKAHEAD_SECONDS, s.helpings)
            for host in asking:
                host.asking = True  # before the claim: the host must not be released while more of its tasks come
            # A worker with enough tasks leaves newly free hosts to other workers, until those have polled.
            patience = 0.0 if files or soon < s.concurrency else 2 * s.idle_poll
            request = ClaimRequest(
                self._owner,
                s.hosts_per_claim,
                s.tasks_per_host,
                round(s.lease * 1000),
                [(host.lease.host_id, host.lease.token) for host in asking],
                round(patience * 1000),
                files,
            )
            self.under_way = asyncio.create_task(self._claim(now, asking, request, work_request), name="claim")
            self.under_way.add_done_callback(lambda task: self._claimed(task, wake))

    def _lacks_files(self, now: float) -> bool:
        s = self._settings
        soon = self.hand.files_startable_within(now, LOOKAHEAD_SECONDS)
        return soon < s.downloads and self.hand.files_waiting < FILES_AHEAD_PER_PLACE * s.downloads

    def reported(self, released: Iterable[LeasedHost], *, more: bool) -> None:
        """Note the hosts that a report released; claim again at once after a release or when there is more work."""
        moments = [latest_monotonic(self._clock, host.next_start) + CLOCK_MARGIN_SECONDS for host in released]
        self._free_again = min(moments, default=self._free_again)
        if moments or more:
            self.next = 0.0

    def share(self) -> None:
        """Release hosts to an idle worker, if this worker has enough tasks."""
        now, s = self._clock.monotonic(), self._settings
        enough = self.hand.startable_within(now, LOOKAHEAD_SECONDS) >= s.concurrency
        if enough or (s.downloads and self.hand.files_waiting >= s.downloads):
            self.hand.share()

    def _claimed(self, task: "asyncio.Task[None]", wake: Callable[[], None]) -> None:
        self.under_way = None
        wake()
        if not task.cancelled() and (error := task.exception()):
            log.error("claim failed", exc_info=error)
            self.next = self._clock.monotonic() + self._settings.idle_poll

    async def _claim(
        self, now: float, asking: Sequence[LeasedHost], request: ClaimRequest, work_request: WorkRequest | None
    ) -> None:
        """Lease more hosts and, where too few are free, more tasks of the leased hosts."""
        s, held = self._settings, request.held
        try:
            leases = await self._lifecycle.claim(request)
        except Unavailable as error:
            log.warning("claim failed, engine unavailable", extra={"error": str(error)})
            leases, self.trouble = [], error
        else:
            self.trouble = None
        finally:
            for host in asking:
                host.asking = False
        answered = self._clock.monotonic()
        fresh = [lease for lease in leases if (lease.host_id, lease.token) not in held]
        helped = [lease for lease in leases if lease.tasks and self.hand.help(lease)]
        for lease in fresh:
            self.hand.add(LeasedHost(lease, s.lease, now, answered + self._clock.error()))
        if not fresh and not helped:
            poll = answered + s.idle_poll
            self.next = min(poll, self._free_again) if self._free_again > answered else poll
        if work_request is not None:
            await work_request.send_if_due(idle=not len(self.hand))
