"""The frontier by host, and workers with the hosts and tasks that they hold."""

from collections import Counter

import msgspec

from longline.model.errors import NotFound
from longline.model.frontier.frontier_lists import HeldTask, ListedHost, PlaceInLine, QueuedTask
from longline.model.frontier.worker import ALIVE_MS, WorkerRow
from longline.ports.records.frontier.frontier import WorkerStore
from longline.ports.records.frontier.frontier_lists import HostListStore

MAX_HELD_HOSTS = 500
"""Largest number of held hosts that an overview of workers reads."""


class WorkerHand(msgspec.Struct, frozen=True):
    """A worker, whether its last heartbeat is recent, and the numbers of hosts and tasks that it has leased."""

    worker: WorkerRow
    alive: bool
    hosts: int
    tasks: int


class HostLists:
    """Lists of hosts, of their tasks, and of workers."""

    def __init__(self, hosts: HostListStore, workers: WorkerStore) -> None:
        self._hosts, self._workers = hosts, workers

    async def free(self, after: tuple[int, int], limit: int) -> list[ListedHost]:
        """Return hosts that no worker holds, the longest due first, from behind (due time, host)."""
        return await self._hosts.free(after=after, limit=limit)

    async def held(self, after: tuple[int, int], limit: int, owner: int | None = None) -> list[ListedHost]:
        """Return held hosts, or those of one worker, by the end of the lease, from behind (that time, host)."""
        return await self._hosts.held(owner=owner, after=after, limit=limit)

    async def named(self, prefix: str, after: str, limit: int) -> list[ListedHost]:
        """Return hosts whose names begin with a text, by name."""
        return await self._hosts.named(prefix.strip().lower(), after=after, limit=limit)

    async def get(self, host: str) -> ListedHost:
        """Return one host; raise `NotFound` for an unknown one."""
        found = await self._hosts.get(host)
        if found is None:
            raise NotFound("host", host)
        return found

    async def queue(self, host: ListedHost, after: PlaceInLine | None, limit: int) -> list[QueuedTask]:
        """Return the tasks in the queue of a host, in the order of its claims."""
        return await self._hosts.queue(host.host_id, after=after, limit=limit)

    async def workers(self) -> list[WorkerHand]:
        """Return all workers with the numbers of hosts and tasks that they hold, in the order of their start."""
        silent = {worker.id for worker in await self._workers.silent(ALIVE_MS)}
        held = await self._hosts.held(limit=MAX_HELD_HOSTS)
        owners = {host.host_id: host.owner for host in held}
        hosts = Counter(owners.values())
        tasks = Counter(owners[task.host_id] for task in await self._hosts.in_hand(held))
        tasks.update(task.owner for task in await self._hosts.taken(MAX_HELD_HOSTS))
        return [
            WorkerHand(worker, worker.id not in silent, hosts[worker.id], tasks[worker.id])
            for worker in await self._workers.find()
        ]

    async def hand(self, worker_id: int) -> tuple[list[ListedHost], list[QueuedTask], list[HeldTask]]:
        """Return the hosts of a worker, its tasks of these hosts, and the tasks that it holds without their hosts."""
        hosts = await self._hosts.held(owner=worker_id, limit=MAX_HELD_HOSTS)
        taken = [task for task in await self._hosts.taken(MAX_HELD_HOSTS) if task.owner == worker_id]
        return hosts, await self._hosts.in_hand(hosts), taken
