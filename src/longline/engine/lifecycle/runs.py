"""Starts of runs that no process holds, and URLs for runs that may have ended."""

from collections.abc import Awaitable, Callable, Sequence

from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.frontier.task import NewTask
from longline.model.runs.run import NewRun
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, HostSetting

BATCH_SIZE = 2000
"""Number of URLs that are admitted in one transaction, so that others can write in between."""

Call = Callable[[], Awaitable[None]]
"""A callback that signals workers, or schedulers, that there may be work."""


class RunLifecycle:
    """The starts of runs, together with their seeds, and their extension by further URLs."""

    def __init__(self, records: Records, politeness: PolitenessKey, call_workers: Call | None = None) -> None:
        self._frontier, self._politeness, self._call_workers = records.frontier, politeness, call_workers

    async def begin(self, run: NewRun, seeds: Sequence[tuple[NewTask, HostSetting]], reason: str) -> int:
        """Make a run and admit its seeds, both or neither; return its id."""
        tasks, hosts = await self._politeness.place([task for task, _ in seeds], [host for _, host in seeds])
        await self._frontier.ensure_hosts(hosts)
        run_id = await self._frontier.begin(run, tasks, reason)
        if self._call_workers is not None:
            await self._call_workers()
        return run_id

    async def start(self, run_id: int, seeds: Sequence[tuple[NewTask, HostSetting]], reason: str) -> bool:
        """Start a queued run that is due and admit its seeds, both or neither; return False if it may not start now.

        Raise `BadInput` when none of the seeds can be admitted.
        """
        tasks, hosts = await self._politeness.place([task for task, _ in seeds], [host for _, host in seeds])
        await self._frontier.ensure_hosts(hosts)
        started = await self._frontier.start_due(run_id, tasks, reason)
        if started and self._call_workers is not None:
            await self._call_workers()
        return started

    async def extend(self, run_id: int, tasks: Sequence[NewTask], hosts: Sequence[HostSetting]) -> Admitted:
        """Admit URLs to a run that may have ended: the run is opened again for a new URL, and refusals are deleted."""
        tasks, hosts = await self._politeness.place(tasks, hosts)
        for start in range(0, len(hosts), BATCH_SIZE):
            await self._frontier.ensure_hosts(hosts[start : start + BATCH_SIZE])
        parts = [
            await self._frontier.extend(run_id, tasks[start : start + BATCH_SIZE])
            for start in range(0, len(tasks), BATCH_SIZE)
        ]
        return Admitted(*map(sum, zip(*parts, strict=True))) if parts else Admitted(0, 0, 0)
