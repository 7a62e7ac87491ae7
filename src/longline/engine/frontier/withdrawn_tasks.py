"""Removal of withdrawn tasks from a worker.

A task that was paused, cancelled or restarted, or whose run has stopped, must send no more requests. Reading the
counts of withdrawals costs one small query for all hosts of the worker; the tasks themselves are compared with the
queue only where a count has moved. Tasks of runs under a hold are given back: those that were not begun at all.
"""

from longline.engine.frontier.leased_hosts import LeasedHost, LeasedHosts
from longline.engine.lifecycle.tasks import TaskLifecycle
from longline.ports.records.recrawls.recrawls import HoldStore

WITHDRAWAL_INTERVAL_SECONDS = 0.5
"""Seconds between two looks: half of the second after which no request of a withdrawn task may begin."""


class WithdrawnTaskFilter:
    """A filter that drops withdrawn tasks from a worker."""

    def __init__(self, hand: LeasedHosts, tasks: TaskLifecycle, owner: int, holds: HoldStore | None = None) -> None:
        self._hand, self._tasks, self._owner, self._holds = hand, tasks, owner, holds

    async def once(self) -> None:
        """Drop the tasks that were withdrawn since the last look, and give back those of runs under a hold."""
        await self._drop_withdrawn()
        if self._holds is not None and (held := await self._holds.held_runs()):
            for host in self._hand:
                host.tasks.hold(held)

    async def _drop_withdrawn(self) -> None:
        counts = await self._tasks.withdrawals(self._owner)
        moved = [host for host in self._hand if counts.get(_key(host), 0) > host.tasks.withdrawals]
        # More tasks of a host may be on their way, withdrawn ones among them: such a host is looked at again.
        settled = [host for host in moved if not host.asking]
        held = {host: list(host.tasks) for host in moved}
        marked = await self._tasks.marked([(*_key(host), task) for host, tasks in held.items() for task in tasks])
        for host, tasks in held.items():
            host.tasks.withdraw({task.mark for task in tasks} - marked)
        for host in settled:
            host.tasks.withdrawals = counts[_key(host)]


def _key(host: LeasedHost) -> tuple[int, int]:
    """Return the id of a host, and the token under which the host is held."""
    return host.lease.host_id, host.lease.token
