"""The reaper: takes back lapsed leases, and at once the leases of dead workers."""

import logging
from collections.abc import Mapping

from longline.engine.lifecycle.moves import Lifecycle
from longline.model.frontier.worker import DEAD_AFTER_MS
from longline.ports.blobs import Blobs
from longline.ports.process_lock import ProcessLock
from longline.ports.records.archive import SegmentStore
from longline.ports.records.frontier.frontier import WorkerStore

log = logging.getLogger(__name__)


class Reaper:
    """The reaper of leases without a living owner."""

    def __init__(
        self, lifecycle: Lifecycle, workers: WorkerStore, segments: SegmentStore, blobs: Blobs, presence: ProcessLock
    ) -> None:
        self._lifecycle, self._workers, self._presence = lifecycle, workers, presence
        self._segments, self._blobs = segments, blobs

    async def once(self) -> Mapping[str, int]:
        """Take back the leases of dead workers, then lapsed leases; return how many, by subject."""
        dead_workers = await self.reap_dead_workers()
        reaped = dict(await self._lifecycle.reap())
        if any(reaped.values()):
            log.info("reclaimed expired leases", extra=reaped)
        return reaped | {"dead_workers": dead_workers}

    async def reap_dead_workers(self) -> int:
        """Take back everything of workers that are dead, or silent for DEAD_AFTER_MS; return how many workers.

        Their unfinished segments are deleted: no row names them, and none will.
        """
        dead = {worker.id: worker for worker in await self._workers.find() if self._presence.gone(worker.mark)}
        dead |= {worker.id: worker for worker in await self._workers.silent(DEAD_AFTER_MS)}
        for worker in dead.values():
            held = await self.remove_worker(worker.id)
            log.info("worker died", extra={"worker": worker.name, "held": held})
            if self._presence.gone(worker.mark):  # a process that is only suspended goes on, and keeps its mark
                self._presence.forget(worker.mark)
        return len(dead)

    async def remove_worker(self, worker_id: int) -> int:
        """Take back the leases of a stopped worker, and remove the worker; return how many leases."""
        # Leases first: a segment of the worker is then either named by its report or never will be.
        held = await self._lifecycle.release_all(worker_id)
        for segment in await self._segments.abandoned([worker_id]):
            await self._blobs.delete([segment.key])
            await self._segments.drop(segment.id)
        await self._workers.remove(worker_id)
        return held
