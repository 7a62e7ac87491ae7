"""Liveness of workers: by their heartbeats, and whether every role that the platform needs has a living worker."""

from collections import Counter

from longline.model.errors import RoleUnstaffed
from longline.model.frontier.worker import ALIVE_MS, PARSE, ROLES, START_SECONDS
from longline.ports.clock import Clock
from longline.ports.records.frontier.frontier import QueueFigureStore, WorkerStore


class WorkerLiveness:
    """The living workers; `needed_roles` are the roles without which the configured platform does not work."""

    def __init__(
        self,
        workers: WorkerStore,
        queue: QueueFigureStore,
        clock: Clock,
        needed_roles: frozenset[str] = frozenset(ROLES),
    ) -> None:
        self._workers, self._queue, self._clock = workers, queue, clock
        self._started, self._needed_roles = clock.monotonic(), needed_roles

    async def alive(self) -> dict[str, int]:
        """Return the number of living workers of each role; a process with several roles counts for each of them."""
        silent = {worker.id for worker in await self._workers.silent(ALIVE_MS)}
        found = Counter[str](dict.fromkeys(ROLES, 0))
        for worker in await self._workers.find():
            if worker.id not in silent:
                found.update(worker.roles.split(","))
        return {role: found[role] for role in ROLES}

    async def check(self) -> str:
        """Return the number of living workers by role; raise `RoleUnstaffed` for a needed role without any.

        Shortly after the start of this process a worker may still be on its way. Pages that wait for a parser need one
        in every configuration: bots submit them as well.
        """
        alive = await self.alive()
        missing = [role for role, count in alive.items() if not count and await self._needs(role)]
        if missing and self._clock.monotonic() - self._started > START_SECONDS:
            start = f"longline worker --roles {','.join(missing)}"
            raise RoleUnstaffed(f"no living worker has the role {' or '.join(missing)}; start one: {start}")
        return ", ".join(f"{role} {count}" for role, count in alive.items())

    async def _needs(self, role: str) -> bool:
        waits = role == PARSE and (await self._queue.queue_figures()).parse_ready > 0
        return waits or role in self._needed_roles
