"""The hosts in a worker's hand: politeness kept in one place, in memory, for as long as the lease is held.

Delay is measured from request start to request start. A host's earliest next request is written back with the lease
(`not_before`), so it moves with the host from worker to worker.
"""

import asyncio
from collections import deque
from collections.abc import Iterator

from longline.model.host import HostLease
from longline.model.task import ClaimedTask
from longline.ports.clock import Clock


class HeldHost:
    """One leased host: what waits, what is under way, and when the next request may start."""

    def __init__(self, lease: HostLease, ttl: float, asked: float, answered: float) -> None:
        self.lease = lease
        self.waiting = deque(lease.tasks)
        self.inflight = 0
        self.delay = lease.delay_ms / 1000
        self.lost = False
        self.asking_robots = asyncio.Lock()
        # The engine's clock was read somewhere between `asked` and `answered`: each use takes the careful end.
        self._engine_then = lease.until - round(ttl * 1000)
        self._asked = asked
        self.next_start = answered + max(0.0, (lease.not_before - self._engine_then) / 1000)
        self.expires = asked + ttl

    @property
    def idle(self) -> bool:
        """Nothing waits and nothing is under way."""
        return not self.waiting and self.inflight == 0

    def startable(self, now: float) -> bool:
        """Whether a task may be started now."""
        return self._open(now) and self.next_start <= now

    def start_time(self, now: float) -> float | None:
        """When the next task may be started, unless something else must end first."""
        return max(self.next_start, now) if self._open(now) else None

    def _open(self, now: float) -> bool:
        free = bool(self.waiting) and self.inflight < self.lease.concurrency
        return free and not self.lost and now < self.expires

    async def turn(self, clock: Clock) -> bool:
        """Wait for this host's next request; False when the lease ran out meanwhile and nothing may be sent."""
        start = max(clock.monotonic(), self.next_start)
        self.next_start = start + self.delay
        if (wait := start - clock.monotonic()) > 0:
            await clock.sleep(wait)
        return not self.lost and clock.monotonic() < self.expires

    def engine_time(self, moment: float) -> int:
        """A moment of our monotonic clock in the engine's milliseconds, rather late than early."""
        return self._engine_then + round((moment - self._asked) * 1000) + 1

    def renewed(self, asked: float, ttl: float) -> None:
        """The lease was extended by a renewal that was asked for at that moment."""
        self.expires = asked + ttl

    def back_off(self, seconds: float, now: float) -> None:
        """Leave the host alone for a while."""
        self.next_start = max(self.next_start, now + seconds)


class Hand:
    """Every host this worker holds."""

    def __init__(self) -> None:
        self._hosts: dict[int, HeldHost] = {}

    def add(self, host: HeldHost) -> None:
        self._hosts[host.lease.host_id] = host

    def drop(self, host_id: int) -> None:
        self._hosts.pop(host_id, None)

    def get(self, host_id: int) -> HeldHost | None:
        return self._hosts.get(host_id)

    def __iter__(self) -> Iterator[HeldHost]:
        return iter(list(self._hosts.values()))

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def waiting(self) -> int:
        """Tasks in hand that were not started."""
        return sum(len(h.waiting) for h in self._hosts.values() if not h.lost)

    def next_task(self, now: float) -> tuple[HeldHost, ClaimedTask] | None:
        """A task that may start now; hosts take turns."""
        for host_id, host in list(self._hosts.items()):
            if host.startable(now):
                self._hosts[host_id] = self._hosts.pop(host_id)
                return host, host.waiting.popleft()
        return None

    def next_time(self, now: float) -> float | None:
        """When the earliest waiting task may start."""
        times = [t for h in self._hosts.values() if (t := h.start_time(now)) is not None]
        return min(times, default=None)
