"""The hosts in a worker's hand: politeness kept in one place, in memory, for as long as the lease is held.

Delay is measured from request start to request start. A host's earliest next request is written back with the lease
(`not_before`), so it moves with the host from worker to worker.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Iterator

from longline.engine.engine_clock import held_seconds
from longline.engine.frontier.pace import Pace
from longline.model.frontier.host import HostLease
from longline.model.frontier.task import ClaimedTask
from longline.ports.clock import Clock

ON_THE_WAY_ALONE = 1.0
ON_THE_WAY_AMONG_OTHERS = 0.25
"""Seconds that a request is given to arrive, where requests follow each other and where they overlap."""

MAX_PAUSE_SECONDS = 4000.0
"""No host is left alone for longer, whatever its row says: a longer Retry-After is cut, and a delay comes on top."""

GREED = 8
"""How many of a worker's places one host may have for each that is left free for the others."""


class TooSoon(Exception):
    """The host must be left alone for longer than its lease lasts: the task goes back as if it had not been started."""


class HeldHost:
    """One leased host: what waits, what is under way, and when the next request may start."""

    def __init__(self, lease: HostLease, ttl: float, asked: float, answered: float) -> None:
        self.lease = lease
        self.waiting = deque(lease.tasks)
        self.inflight = 0
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

    def idle(self, now: float) -> bool:
        """Nothing is under way or asked for, and nothing can be started for as long as a lease lasts, or shall be."""
        if self.inflight or self.asking or self.heavy_pages:
            return False
        return self.leaving or not self.waiting or self._too_soon(self.next_start, now)

    def startable(self, now: float) -> bool:
        """Whether a task may be started now."""
        return self._open(now) and self.next_start <= now

    def start_time(self, now: float) -> float | None:
        """When the next task may be started, unless something else must end first."""
        return max(self.next_start, now) if self._open(now) else None

    def soon(self, now: float, seconds: float) -> int:
        """Return how many of the waiting tasks may be started in the next seconds."""
        left = now + seconds - max(now, self.next_start)
        if self.lost or self.leaving or left < 0 or self._stuck(now, seconds):
            return 0
        return len(self.waiting) if self.pace.delay <= 0 else min(len(self.waiting), 1 + int(left / self.pace.delay))

    def _stuck(self, now: float, seconds: float) -> bool:
        """Return whether the host has been busy for longer than that, so that no end of it can be expected."""
        busy = self.inflight >= self.pace.concurrency or self.heavy_pages
        return bool(busy) and self._last_start is not None and now - self._last_start > seconds

    def _too_soon(self, moment: float, now: float) -> bool:
        return moment - now > self._ttl

    def _open(self, now: float) -> bool:
        # A page of very many links that waits to be reported is work enough of one host.
        free = bool(self.waiting) and self.inflight < self.pace.concurrency and not self.heavy_pages
        return free and not self.lost and not self.leaving and now < self.expires

    async def turn(self, clock: Clock, longer: float = 0.0) -> float | None:
        """Wait for this host's next request; when it starts, or None when the lease is gone and nothing may be sent.

        The pause after it is so much longer than usual.
        """
        async with self._turns:
            while not self.lost:
                now = clock.monotonic()
                if self.next_start <= now:
                    return self._started(now, longer) if now < self.expires else None
                if self._too_soon(self.next_start, now):
                    raise TooSoon
                await clock.sleep(self._next_look(now) - now)
        return None

    def _next_look(self, now: float) -> float:
        """When a start may have come nearer: by then the last request is answered mostly, which ends its allowance."""
        if self._last_start is None:
            return self.next_start
        pause_over = self._last_start + self.pace.delay + self._longer
        return pause_over if now < pause_over < self.next_start else self.next_start

    def _started(self, now: float, longer: float) -> float:
        # The server sees the request somewhat later than we send it. Until it has answered, the next request keeps that
        # much more distance, or two of them could arrive closer together than they were sent.
        alone = self.pace.concurrency == 1
        allowance = ON_THE_WAY_ALONE if alone else min(self.pace.delay, ON_THE_WAY_AMONG_OTHERS)
        self._last_start = self._last_seen = now
        self._longer = longer
        self.next_start = now + self.pace.delay + longer + (allowance if self.pace.delay else 0.0)
        return now

    def answered(self, start: float, now: float, resent: float = 0.0) -> None:
        """The request of that start was answered by now: so long ago at least its server has seen it.

        A request that was sent again has its pause from then on: so many seconds after its start.
        """
        if start == self._last_start:
            self._last_seen = now
            pause = self.pace.delay + self._longer
            self.next_start = max(start + resent + pause, min(self.next_start, now + pause), self._quiet_until)
        elif resent:
            self.next_start = max(self.next_start, start + resent + self.pace.delay)

    def renewed(self, asked: float, ttl: float) -> None:
        """The lease was extended by a renewal that was asked for at that moment."""
        self.expires = asked + held_seconds(ttl)

    def back_off(self, seconds: float, now: float) -> None:
        """Leave the host alone for a while; also those wait who had their turn coming."""
        self._quiet_until = max(self._quiet_until, now + seconds)
        self.next_start = max(self.next_start, now + seconds)

    def heed(self, delay: float, concurrency: int, now: float) -> None:
        """Go by what a task asks for, as far as that is polite enough."""
        self.pace.heed(delay, concurrency, now)
        self._keep_apart()

    def slow_down(self, delay: float, now: float) -> None:
        """Let this much time pass between two requests, the last one that was sent included."""
        self.pace.slow_down(delay, now)
        self._keep_apart()

    def impose(self, delay: float, until: float) -> None:
        """Let so much time pass up to that moment, whatever is asked for."""
        self.pace.impose(delay, until)
        self._keep_apart()

    def _keep_apart(self) -> None:
        if self.pace.delay > self._kept and self._last_seen is not None:
            self.next_start = max(self.next_start, self._last_seen + self.pace.delay)
        self._kept = self.pace.delay


class HeldHosts:
    """Every host this worker holds."""

    def __init__(self) -> None:
        self._hosts: dict[int, HeldHost] = {}

    def add(self, host: HeldHost) -> None:
        """Take a host in; had we held it before, that lease is gone, and what was done under it with it."""
        if (before := self._hosts.pop(host.lease.host_id, None)) is not None:
            before.lost = True
        self._hosts[host.lease.host_id] = host

    def hungry(self, now: float, seconds: float, helpings: int) -> list[HeldHost]:
        """Hosts of which all that waits may be started in the next seconds, and that had fewer helpings of tasks."""
        held = [h for h in self._staying() if now < h.expires and h.helpings < helpings]
        return [h for h in held if h.next_start <= now + seconds and len(h.waiting) <= h.soon(now, seconds)]

    def help(self, lease: HostLease) -> bool:
        """Whether these tasks are more for a host in hand, which takes them, and no lease that is new."""
        host = self._hosts.get(lease.host_id)
        if host is None or host.lease.token != lease.token:
            return False
        host.waiting.extend(lease.tasks)
        host.helpings += 1
        return True

    def share(self) -> None:
        """Let every second host go, each as soon as what is under way there has ended."""
        for host in self._staying()[1::2]:
            host.leaving = True

    def _staying(self) -> list[HeldHost]:
        return [h for h in self._hosts.values() if not h.lost and not h.leaving]

    def drop(self, host_id: int) -> None:
        self._hosts.pop(host_id, None)

    def holds(self, host: HeldHost) -> bool:
        """Whether the host is in hand under this very lease."""
        return self._hosts.get(host.lease.host_id) is host

    def __iter__(self) -> Iterator[HeldHost]:
        return iter(list(self._hosts.values()))

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def runs(self) -> set[int]:
        """The runs that tasks in hand belong to which were not started."""
        return {task.run_id for host in self._hosts.values() for task in host.waiting}

    def forget(self, runs: Collection[int]) -> None:
        """Start no more tasks of these runs."""
        for host in self._hosts.values():
            host.waiting = deque(task for task in host.waiting if task.run_id not in runs)

    @property
    def waiting(self) -> int:
        """Tasks in hand that were not started."""
        return sum(len(h.waiting) for h in self._hosts.values() if not h.lost)

    def soon(self, now: float, seconds: float) -> int:
        """Tasks in hand that may be started in the next seconds."""
        return sum(h.soon(now, seconds) for h in self._hosts.values())

    def next_task(self, now: float, places: int) -> tuple[HeldHost, ClaimedTask] | None:
        """A task that may start now, with so many places free; hosts take turns."""
        for host_id, host in list(self._hosts.items()):
            if host.startable(now) and _leaves_room(host, places):
                self._hosts[host_id] = self._hosts.pop(host_id)
                return host, host.waiting.popleft()
        return None

    def next_time(self, now: float, places: int) -> float | None:
        """When the earliest waiting task may start, with so many places free."""
        hosts = [h for h in self._hosts.values() if _leaves_room(h, places)]
        return min((t for h in hosts if (t := h.start_time(now)) is not None), default=None)


def _leaves_room(host: HeldHost, places: int) -> bool:
    """Whether a host may have one place more; without a bound one that does not answer would soon have them all.

    The last free place is for a host that has none, and several that are silent together leave some free as well.
    """
    return places > 0 and host.inflight <= GREED * (places - 1)
