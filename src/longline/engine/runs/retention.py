"""The retention of runs: deletes runs, tasks of standing runs, events and segments that are too old, piece by piece."""

import logging

from longline.model.errors import Conflict
from longline.model.runs.retention import BODY_GRACE_MS, DECISIONS_MS, RetentionAges
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.discovery import CandidateStore
from longline.ports.records.runs.retention import ExpiredRun, RetentionStore

log = logging.getLogger(__name__)

BATCH_SIZE = 500
"""Largest number of rows of one table in one transaction."""


class RunDeleter:
    """The deleter of single runs. `blobs` has the archive, `log_blobs` the archived logs of runs.

    A run whose items a sink has not got yet is not deleted.
    """

    def __init__(self, store: RetentionStore, blobs: Blobs, log_blobs: Blobs) -> None:
        self._store, self._blobs, self._log_blobs = store, blobs, log_blobs

    async def delete(self, run_id: int, *, forced: bool = False) -> None:
        """Delete a run with all its rows; raise `NotFound` for an unknown run, `Conflict` for a run in use."""
        refusal = await self._store.mark(run_id, forced=forced)
        if refusal is not None:
            raise Conflict(f"run {run_id} cannot be deleted: {refusal}")
        await self.finish(run_id)
        await self.delete_segments()

    async def mark(self, run_id: int) -> bool:
        """Mark a run as deleted; return False for a run in use."""
        return await self._store.mark(run_id) is None

    async def finish(self, run_id: int) -> bool:
        """Delete the rows of a marked run, in pieces; return False if another process was first."""
        piece = await self._store.delete_piece(run_id, BATCH_SIZE)
        while not piece.is_gone:
            if piece.log_key is not None:
                # The object first: after a kill the row still names the object.
                await self._log_blobs.delete([piece.log_key])
            piece = await self._store.delete_piece(run_id, BATCH_SIZE, without_log_object=piece.log_key is not None)
        return piece.is_deleted

    async def delete_segments(self) -> int:
        """Delete every stored segment that no row names, the object first; return how many."""
        after, deleted = 0, 0
        while segments := await self._store.unnamed_segments(after, BATCH_SIZE):
            await self._blobs.delete([segment.key for segment in segments])
            for segment in segments:
                await self._store.delete_segment(segment.id)
            after, deleted = segments[-1].id, deleted + len(segments)
        return deleted


class Retention:
    """The loop that deletes rows that are too old."""

    def __init__(
        self,
        store: RetentionStore,
        candidates: CandidateStore,
        deleter: RunDeleter,
        blobs: Blobs,
        ages: RetentionAges,
        clock: Clock,
    ) -> None:
        self._store, self._candidates, self._deleter, self._blobs = store, candidates, deleter, blobs
        self._ages, self._clock = ages, clock

    async def once(self) -> int:
        """Delete every row that is too old; return the number of runs."""
        await self._mark_expired()
        runs = await self._finish_marked()
        tasks = 0
        for bots, age_ms in ((False, self._ages.standing_ms), (True, self._ages.bots_ms)):
            tasks += await self._delete_standing_tasks(age_ms, bots=bots) if age_ms else 0
        events = await self._delete_events() if self._ages.events_ms else 0
        await self._release_bodies()
        segments = await self._deleter.delete_segments()
        while await self._candidates.forget(self._clock.now() - DECISIONS_MS):
            pass
        if runs or tasks or events or segments:
            counts = {"runs": runs, "tasks": tasks, "events": events, "segments": segments}
            log.info("deleted old runs", extra=counts)
        return runs

    async def _mark_expired(self) -> None:
        now = self._clock.now()
        for kind, scheduled, age_ms in self._ages.of_runs():
            last = ExpiredRun()
            while found := await self._store.expired(kind, scheduled, now - age_ms, last, BATCH_SIZE):
                for run in found:
                    await self._deleter.mark(run.id)
                last = found[-1]
        after = 0
        while surplus := await self._store.surplus(self._ages.max_scheduled, after, BATCH_SIZE):
            for run_id in surplus:
                await self._deleter.mark(run_id)
            after = surplus[-1]

    async def _finish_marked(self) -> int:
        after, deleted = 0, 0
        while marked := await self._store.marked(after, BATCH_SIZE):
            deleted += sum([await self._deleter.finish(run_id) for run_id in marked])
            after = marked[-1]
        return deleted

    async def _delete_standing_tasks(self, age_ms: int, *, bots: bool) -> int:
        before, run_after, deleted = self._clock.now() - age_ms, 0, 0
        while runs := await self._store.standing_runs(bots=bots, after=run_after, limit=BATCH_SIZE):
            for run_id in runs:
                after = 0
                while (old := await self._store.old_tasks(run_id, before, after, BATCH_SIZE)).task_ids:
                    await self._blobs.delete(list(old.object_keys))
                    deleted += await self._store.delete_tasks(old.task_ids)
                    after = old.task_ids[-1]
            run_after = runs[-1]
        return deleted

    async def _delete_events(self) -> int:
        before, total = self._clock.now() - self._ages.events_ms, 0
        while deleted := await self._store.delete_events(before, BATCH_SIZE):
            total += deleted
        return total

    async def _release_bodies(self) -> None:
        now = self._clock.now()
        visited_before = now - self._ages.visits_ms if self._ages.visits_ms else 0
        after = await self._store.release_bodies(now - BODY_GRACE_MS, visited_before, 0, BATCH_SIZE)
        while after:
            after = await self._store.release_bodies(now - BODY_GRACE_MS, visited_before, after, BATCH_SIZE)
