"""The pruning of manifests: ended ones that are too old, then the oldest ones while all take too much room."""

import logging
from collections.abc import AsyncIterator

import msgspec

from longline.engine.metrics import MetricCounters
from longline.engine.runs.retention import RunDeleter
from longline.model.manifests.manifest import ManifestSnapshot, PrunedManifests
from longline.model.metrics.metric import MANIFESTS_PRUNED
from longline.ports.clock import Clock
from longline.ports.records.manifests import IdempotencyStore, ManifestStore, SizedManifest
from longline.ports.records.runs.retention import ExpiredRun
from longline.services.manifests.dead_letters import DeadLetters

log = logging.getLogger(__name__)

BATCH_SIZE = 500


class ManifestAges(msgspec.Struct, frozen=True):
    """The times for which manifests and dead letters are kept, and the room that all snapshots may take."""

    manifests_ms: int
    dead_letters_ms: int
    max_bytes: int


class ManifestPruning:
    """The chore that deletes manifests. An open manifest is never deleted."""

    def __init__(
        self,
        store: ManifestStore,
        keys: IdempotencyStore,
        deleter: RunDeleter,
        letters: DeadLetters,
        ages: ManifestAges,
        clock: Clock,
        metrics: MetricCounters | None = None,
    ) -> None:
        self._store, self._keys, self._deleter, self._letters = store, keys, deleter, letters
        self._ages, self._clock, self._metrics = ages, clock, metrics

    async def once(self) -> int:
        """Delete everything that is too old; return the number of manifests."""
        pruned = (await self.prune()).pruned
        letters = await self._letters.purge(self._ages.dead_letters_ms)
        while await self._keys.forget(BATCH_SIZE):
            pass
        if pruned or letters:
            log.info("pruned manifests", extra={"manifests": pruned, "dead_letters": letters})
        return pruned

    async def prune(self, *, is_dry: bool = False) -> PrunedManifests:
        """Delete old and surplus manifests, or only count them."""
        _, size = await self._store.bytes()
        before, pruned = self._clock.now() - self._ages.manifests_ms, 0
        async for run in self._oldest():
            if run.ended_at >= before and size <= self._ages.max_bytes:
                break
            if is_dry or await self._delete(run.id):
                pruned, size = pruned + 1, size - run.bytes
        if pruned and self._metrics is not None and not is_dry:
            self._metrics.add(MANIFESTS_PRUNED, count=pruned)
        return PrunedManifests(pruned, size)

    async def _delete(self, run_id: int) -> bool:
        """Delete a run; return False for one whose end has effects that wait."""
        return await self._deleter.mark(run_id) and await self._deleter.finish(run_id)

    async def _oldest(self) -> AsyncIterator[SizedManifest]:
        last = ExpiredRun()
        while batch := await self._store.sized(last, BATCH_SIZE):
            for one in batch:
                yield one
            last = ExpiredRun(batch[-1].ended_at, batch[-1].id)


async def exported(store: ManifestStore, since: int) -> AsyncIterator[ManifestSnapshot]:
    """Yield the snapshots of all manifests that were made at `since` or later, oldest first."""
    after = 0
    while batch := await store.after(after, since, BATCH_SIZE):
        for one in batch:
            yield one
        after = batch[-1].run_id
