"""The hosts that a worker has leased: politeness kept in one place, in memory, for as long as the lease is held.

Delay is measured from request start to request start. A host's earliest next request is written back with the lease
(`not_before`), so it moves with the host from worker to worker.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from longline.engine.engine_clock import held_seconds
from longline.engine.frontier.host_pace import Pace
from longline.model.frontier.host import MAX_PAUSE_SECONDS, HostLease
from longline.model.frontier.task import ClaimedTask
from longline.ports.clock import Clock

TRANSIT_SECONDS = 1.0
TRANSIT_SECONDS_CONCURRENT = 0.25
"""Seconds that a request may take to arrive: where requests follow each other, and where they overlap."""

MAX_PLACES_RATIO = 8
"""Places of a worker that one host may have for each place that is left free for other hosts."""


_PRIORITY = attrgetter("priority")


class FreePlaces(NamedTuple):
    """Numbers of tasks that a worker may start now: pages, and files, which have places of their own."""

    pages: int
    files: int = 0


class TooSoon(Exception):
    """A pause of the host that is longer than its lease: the task goes back as if it had not been started."""


class Overslept(TooSoon):
    """A deadline that passed while this process was stopped: the silence was its own, and not the host's."""


class TaskWithdrawn(Exception):
    """The withdrawal of a task, as by a pause or a cancellation: no more requests are sent for it."""


class LeasedTasks:
    """The tasks of one lease: pages and files that wait by priority, tasks in flight, and the marks of withdrawn tasks.

    `withdrawals` is the count of withdrawals up to which the tasks were compared with the queue. `returned` are tasks
    of runs under a hold, which go back to the queue with the next report.
    """

    def __init__(self, tasks: Iterable[ClaimedTask]) -> None:
        self.waiting, self.files = deque[ClaimedTask](), deque[ClaimedTask]()
        self.add(tasks)
        self.withdrawn: set[tuple[int, int]] = set()
        self.withdrawals = 0
        self.returned: list[ClaimedTask] = []
        self._held: set[tuple[int, int]] = set()
        self._begun: dict[tuple[int, int], ClaimedTask] = {}

    def __iter__(self) -> Iterator[ClaimedTask]:
        return iter((*self.unstarted, *self._begun.values()))

    @property
    def unstarted(self) -> tuple[ClaimedTask, ...]:
        """Return the tasks that wait to be started."""
        return (*self.waiting, *self.files)

    def add(self, tasks: Iterable[ClaimedTask]) -> None:
        """Add tasks that were claimed, each behind those of its priority."""
        for task in tasks:
            queue = self._queue_of(task)
            queue.insert(bisect_right(queue, task.priority, key=_PRIORITY), task)

    def put_back(self, task: ClaimedTask) -> None:
        """Let a task that was not begun wait again, before all others of its priority."""
        queue = self._queue_of(task)
        queue.insert(bisect_left(queue, task.priority, key=_PRIORITY), task)

    def _queue_of(self, task: ClaimedTask) -> deque[ClaimedTask]:
        return self.waiting if task.download is None else self.files

    def begin(self, task: ClaimedTask) -> None:
        """Note that a task is in flight."""
        self._begun[task.mark] = task

    def end(self, task: ClaimedTask) -> None:
        """Note that a task is no longer in flight."""
        self._begun.pop(task.mark, None)
        self._held.discard(task.mark)

    def hold(self, run_ids: Collection[int]) -> None:
        """Start no task of these runs, and send no first or further request for those in flight."""
        self.returned += (task for task in self.unstarted if task.run_id in run_ids)
        self._keep(lambda task: task.run_id not in run_ids)
        self._held.update(mark for mark, task in self._begun.items() if task.run_id in run_ids)

    def give_back(self, task: ClaimedTask) -> None:
        """Return a task in flight that was given up before its request, if its run is held; others were withdrawn."""
        if self.is_held(task.mark):
            self.returned.append(task)

    def take_returned(self) -> tuple[ClaimedTask, ...]:
        """Return the tasks that go back to the queue, each once."""
        found, self.returned = tuple(self.returned), []
        return found

    def is_held(self, mark: tuple[int, int] | None) -> bool:
        """Return whether a task in flight has to go back to the queue."""
        return mark in self._held

    def _keep(self, is_kept: Callable[[ClaimedTask], bool]) -> None:
        """Drop the other tasks that wait."""
        for queue in (self.waiting, self.files):
            kept = [task for task in queue if is_kept(task)]
            queue.clear()
            queue.extend(kept)

    def supersede(self, tasks: Iterable[ClaimedTask]) -> None:
        """Withdraw earlier attempts at these tasks: a task that is claimed again was taken from its worker before."""
        marks = {task.id: task.mark for task in tasks}
        if earlier := {task.mark for task in self if marks.get(task.id, task.mark) != task.mark}:
            self.withdraw(earlier)

    def withdraw(self, marks: Collection[tuple[int, int]]) -> None:
        """Start none of these tasks, and send no further request for those in flight."""
        self.withdrawn.update(marks)
        self._keep(lambda task: task.mark not in self.withdrawn)


class LeasedHost:
    """One leased host: its waiting tasks, its tasks in flight, and the time of its next request."""

    def __init__(self, lease: HostLease, ttl: float, asked: float, answered: float) -> None:
        self.lease = lease
        self.tasks = LeasedTasks(lease.tasks)
        self.inflight = 0
        self.storing = 0
        self.heavy_pages = 0
        self.helpings = 1
        self.asking = False
        self.leaving = False
        self.lost = False
        self._turns = asyncio.Lock()
        # The engine's clock was read somewhere between `asked` and `answered`: each use takes the careful end.
        engine_then = lease.until - round(ttl * 1000)
        self._ttl = ttl
        self._last_start: float | None = None
        self._last_seen: float | None = None
        self._longer = 0.0
        self._quiet_until = float("-inf")
        self.pace = Pace(lease, answered + (lease.pace_until - engine_then) / 1000)
        self._kept = self.pace.delay
        pause = (lease.not_before - engine_then) / 1000
        pause = min(max(0.0, pause), MAX_PAUSE_SECONDS + 2 * lease.delay_ms / 1000)
        self.next_start = answered + pause
        self.expires = asked + held_seconds(ttl)
        self.lapsed_until = float("-inf")

    @property
    def waiting(self) -> deque[ClaimedTask]:
        """Return the pages that wait to be started."""
        return self.tasks.waiting

    @property
    def _unstarted(self) -> int:
        return len(self.tasks.waiting) + len(self.tasks.files)

    def idle(self, now: float) -> bool:
        """Return whether no fetch, claim, store or heavy page is pending, and no task is to start within a lease."""
        if self.inflight or self.storing or self.asking or self.heavy_pages:
            return False
        return self.leaving or not self._unstarted or self._too_soon(self.next_start, now)

    def startable(self, now: float) -> bool:
        """Return whether a task may be started now."""
        return self._open(now) and self.next_start <= now

    def start_time(self, now: float) -> float | None:
        """Return when the next task may be started; None when another task must end first, or none may start."""
        return max(self.next_start, now) if self._open(now) else None

    def startable_within(self, now: float, seconds: float, tasks: Collection[ClaimedTask] | None = None) -> int:
        """Return how many of these tasks, by default the waiting pages, may be started in the next seconds."""
        left, waiting = now + seconds - max(now, self.next_start), len(self.waiting if tasks is None else tasks)
        if self.lost or self.leaving or left < 0 or self._is_busy_for(now, seconds):
            return 0
        return waiting if self.pace.delay <= 0 else min(waiting, 1 + int(left / self.pace.delay))

    def _is_busy_for(self, now: float, seconds: float) -> bool:
        """Return whether the host has been busy for longer than `seconds`, so that no end can be expected."""
        busy = self.inflight >= self.pace.concurrency or self.heavy_pages
        return bool(busy) and self._last_start is not None and now - self._last_start > seconds

    def _too_soon(self, moment: float, now: float) -> bool:
        return moment - now > self._ttl

    def _open(self, now: float) -> bool:
        # A heavy page that waits to be reported is work enough of one host.
        free = bool(self._unstarted) and self.inflight < self.pace.concurrency and not self.heavy_pages
        return free and not self.lost and not self.leaving and now < self.expires

    async def wait_for_turn(
        self, clock: Clock, longer: float = 0.0, mark: tuple[int, int] | None = None
    ) -> float | None:
        """Wait for this host's next request; return its start, or None when the lease is lost and none may be sent.

        The pause after the request is `longer` by so many seconds. A request of the task with this `mark` is given up
        if the task is withdrawn.
        """
        async with self._turns:
            while not self.lost:
                if mark in self.tasks.withdrawn or self.tasks.is_held(mark):
                    raise TaskWithdrawn
                now = clock.monotonic()
                if self.next_start <= now:
                    return self._started(now, longer) if now < self.expires else None
                if self._too_soon(self.next_start, now):
                    raise TooSoon
                await clock.sleep(self._next_look(now) - now)
        return None

    def _next_look(self, now: float) -> float:
        """Return when the start may have moved nearer: by then most requests are answered, which ends the allowance."""
        if self._last_start is None:
            return self.next_start
        pause_over = self._last_start + self.pace.delay + self._longer
        return pause_over if now < pause_over < self.next_start else self.next_start

    def _started(self, now: float, longer: float) -> float:
        # The server sees the request somewhat later than we send it. Until it has answered, the next request keeps that
        # much more distance, or two of them could arrive closer together than they were sent.
        alone = self.pace.concurrency == 1
        allowance = TRANSIT_SECONDS if alone else min(self.pace.delay, TRANSIT_SECONDS_CONCURRENT)
        self._last_start = self._last_seen = now
        self._longer = longer
        self.next_start = now + self.pace.delay + longer + (allowance if self.pace.delay else 0.0)
        return now

    def answered(self, start: float, now: float, resent: float = 0.0) -> None:
        """Note that the request of `start` was answered at `now`, and so had reached its server by then.

        The pause of a request that was sent again counts from `resent` seconds after its start.
        """
        if start == self._last_start:
            self._last_seen = now
            pause = self.pace.delay + self._longer
            self.next_start = max(start + resent + pause, min(self.next_start, now + pause), self._quiet_until)
        elif resent:
            self.next_start = max(self.next_start, start + resent + self.pace.delay)

    def renewed(self, asked: float, ttl: float) -> None:
        """Extend the lease by a renewal that was requested at the moment `asked`."""
        if asked >= self.expires:
            self.lapsed_until = asked
        self.expires = asked + held_seconds(ttl)

    def pause(self, seconds: float, now: float) -> None:
        """Leave the host alone for a while; requests that were waiting for their turn wait as well."""
        self._quiet_until = max(self._quiet_until, now + seconds)
        self.next_start = max(self.next_start, now + seconds)

    def apply_politeness(self, delay: float, concurrency: int, now: float) -> None:
        """Apply the delay and concurrency of a task, as far as they are polite enough."""
        self.pace.apply_politeness(delay, concurrency, now)
        self._keep_apart()

    def slow_down(self, delay: float, now: float) -> None:
        """Apply a delay between requests, also after the last request that was sent."""
        self.pace.slow_down(delay, now)
        self._keep_apart()

    def impose(self, delay: float, until: float) -> None:
        """Apply a delay until a moment, even if tasks want a shorter delay."""
        self.pace.impose(delay, until)
        self._keep_apart()

    def _keep_apart(self) -> None:
        if self.pace.delay > self._kept and self._last_seen is not None:
            self.next_start = max(self.next_start, self._last_seen + self.pace.delay)
        self._kept = self.pace.delay


class LeasedHosts:
    """The hosts that one worker holds."""

    def __init__(self) -> None:
        self._hosts: dict[int, LeasedHost] = {}

    def add(self, host: LeasedHost) -> None:
        """Add a host; an earlier lease of the same host is lost, and its results with it."""
        if (before := self._hosts.pop(host.lease.host_id, None)) is not None:
            before.lost = True
        self._hosts[host.lease.host_id] = host

    def hosts_to_refill(self, now: float, seconds: float, helpings: int) -> list[LeasedHost]:
        """Return hosts with fewer than `helpings` batches of which every waiting task may start in the next seconds."""
        held = [h for h in self._staying() if now < h.expires and h.helpings < helpings]
        return [h for h in held if _may_have_more(h, now, seconds)]

    def help(self, lease: HostLease) -> bool:
        """Add the tasks to the host that is held under the same token; return False for a new lease."""
        host = self._hosts.get(lease.host_id)
        if host is None or host.lease.token != lease.token:
            return False
        host.tasks.supersede(lease.tasks)
        host.tasks.add(lease.tasks)
        host.helpings += 1
        return True

    def share(self) -> None:
        """Release every second host, each as soon as its tasks in flight have ended."""
        for host in self._staying()[1::2]:
            host.leaving = True

    def _staying(self) -> list[LeasedHost]:
        return [h for h in self._hosts.values() if not h.lost and not h.leaving]

    def drop(self, *host_ids: int) -> None:
        """Drop hosts that are no longer leased."""
        for host_id in host_ids:
            self._hosts.pop(host_id, None)

    def holds(self, host: LeasedHost) -> bool:
        """Return whether the host is held under this very lease."""
        return self._hosts.get(host.lease.host_id) is host

    def __iter__(self) -> Iterator[LeasedHost]:
        return iter(list(self._hosts.values()))

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def waiting(self) -> int:
        """Return the number of unstarted leased pages."""
        return sum(len(h.waiting) for h in self._hosts.values() if not h.lost)

    @property
    def files_waiting(self) -> int:
        """Return the number of unstarted leased files."""
        return sum(len(h.tasks.files) for h in self._hosts.values() if not h.lost)

    def startable_within(self, now: float, seconds: float) -> int:
        """Return how many leased pages may be started in the next seconds."""
        return sum(h.startable_within(now, seconds) for h in self._hosts.values())

    def files_startable_within(self, now: float, seconds: float) -> int:
        """Return how many leased files may be started in the next seconds."""
        return sum(h.startable_within(now, seconds, h.tasks.files) for h in self._hosts.values())

    def next_task(self, now: float, places: FreePlaces) -> tuple[LeasedHost, ClaimedTask] | None:
        """Return a task that may start now, with so many places free; hosts take turns."""
        for host_id, host in list(self._hosts.items()):
            queue = _startable_queue(host, places) if host.startable(now) else None
            if queue:
                self._hosts[host_id] = self._hosts.pop(host_id)
                return host, queue.popleft()
        return None

    def next_time(self, now: float, places: FreePlaces) -> float | None:
        """Return when the earliest waiting task may start, with so many places free."""
        hosts = [h for h in self._hosts.values() if _startable_queue(h, places)]
        return min((t for h in hosts if (t := h.start_time(now)) is not None), default=None)


def _leaves_room(host: LeasedHost, places: int) -> bool:
    """Return whether a host may have one place more; without a bound a host that does not answer would take all.

    The last free place is for a host that has none, and several silent hosts together leave some free as well.
    """
    return places > 0 and host.inflight <= MAX_PLACES_RATIO * (places - 1)


def _may_have_more(host: LeasedHost, now: float, seconds: float) -> bool:
    """Return whether every waiting task of a host may be started in the next seconds."""
    tasks = host.tasks.unstarted
    return host.next_start <= now + seconds and len(tasks) <= host.startable_within(now, seconds, tasks)


def _startable_queue(host: LeasedHost, places: FreePlaces) -> deque[ClaimedTask] | None:
    """Return the pages or the files of a host that wait, whichever may start with so many places free, or None."""
    pages = host.tasks.waiting if host.tasks.waiting and _leaves_room(host, places.pages) else None
    files = host.tasks.files if host.tasks.files and _leaves_room(host, places.files) else None
    if pages is None or files is None:
        return pages or files
    return min(pages, files, key=lambda queue: (queue[0].priority, queue[0].id))
