"""Figures of the platform in operation: the counters of all processes, the queue, workers and the disk."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from longline.model.errors import RoleUnstaffed
from longline.model.metrics.metric import QueueFigures
from longline.model.sinks.sink import SinkLag
from longline.ports.clock import Clock
from longline.ports.records.frontier import QueueFigureStore, WorkerStore
from longline.ports.records.schedules import CounterStore
from longline.ports.sinks import SinkProgressStore

FETCH, PARSE, UPKEEP = "fetch", "parse", "upkeep"
ROLES = (FETCH, PARSE, UPKEEP)
"""Roles of workers."""

ALIVE_MS = 45_000
"""Milliseconds after its last heartbeat for which a worker counts as alive: four heartbeats and a half."""

START_SECONDS = 45.0
"""Seconds after the start of this process within which a missing worker may still be starting."""


class OperationFigures(NamedTuple):
    """Figures of one moment."""

    counters: Mapping[str, int]
    queue: QueueFigures
    workers: Mapping[str, int]
    free_disk_bytes: int
    connections: Mapping[str, int]
    sinks: Sequence[SinkLag] = ()


class OperationReader:
    """Reader of the figures; `free_disk_bytes` returns the free space of the data folder.

    `needed_roles` are the roles without which the configured platform does not work.
    """

    def __init__(
        self,
        counters: CounterStore,
        queue: QueueFigureStore,
        workers: WorkerStore,
        sinks: SinkProgressStore,
        free_disk_bytes: Callable[[], int],
        clock: Clock,
        needed_roles: frozenset[str] = frozenset(ROLES),
    ) -> None:
        self._counters, self._queue, self._workers, self._sinks = counters, queue, workers, sinks
        self._free_disk_bytes, self._clock = free_disk_bytes, clock
        self._started, self._needed_roles = clock.monotonic(), needed_roles

    async def take(self) -> OperationFigures:
        """Return the present figures."""
        return OperationFigures(
            await self._counters.all(),
            await self._queue.queue_figures(),
            await self.workers_alive(),
            self._free_disk_bytes(),
            self._queue.connections(),
            await self._sinks.lags(),
        )

    async def workers_alive(self) -> dict[str, int]:
        """Return the number of living workers of each role; a process with several roles counts for each of them."""
        silent = {worker.id for worker in await self._workers.silent(ALIVE_MS)}
        found = Counter[str](dict.fromkeys(ROLES, 0))
        for worker in await self._workers.find():
            if worker.id not in silent:
                found.update(worker.roles.split(","))
        return {role: found[role] for role in ROLES}

    async def check_workers(self) -> str:
        """Return the number of living workers by role; raise `RoleUnstaffed` for a needed role without any.

        Shortly after the start of this process a worker may still be on its way. Pages that wait for a parser need one
        in every configuration: bots submit them as well.
        """
        alive = await self.workers_alive()
        missing = [role for role, count in alive.items() if not count and await self._needs(role)]
        if missing and self._clock.monotonic() - self._started > START_SECONDS:
            start = f"longline worker --roles {','.join(missing)}"
            raise RoleUnstaffed(f"no living worker has the role {' or '.join(missing)}; start one: {start}")
        return ", ".join(f"{role} {count}" for role, count in alive.items())

    async def _needs(self, role: str) -> bool:
        waits = role == PARSE and (await self._queue.queue_figures()).parse_ready > 0
        return waits or role in self._needed_roles
