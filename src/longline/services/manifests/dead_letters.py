"""Dead letters for operators: lists, replay by filters, and the purge of old ones."""

from collections.abc import Sequence

import msgspec

from longline.engine.lifecycle.downloads import DownloadLifecycle
from longline.model.downloads.dead_letter import DeadLetter, DeadLetterFilter
from longline.model.errors import NotFound
from longline.ports.clock import Clock
from longline.ports.records.downloads import DeadLetterStore

BATCH_SIZE = 500
NOUN = "dead letter"


class DeadLetters:
    """The downloads that were given up."""

    def __init__(self, store: DeadLetterStore, lifecycle: DownloadLifecycle, clock: Clock) -> None:
        self._store, self._lifecycle, self._clock = store, lifecycle, clock

    async def get(self, number: int) -> DeadLetter:
        """Return a dead letter; raise `NotFound` for one that is unknown or was purged."""
        found = await self._store.get(number)
        if found is None:
            raise NotFound(NOUN, number)
        return found

    async def find(self, wanted: Sequence[DeadLetterFilter], after: int, limit: int) -> list[DeadLetter]:
        """Return letters that fit one of the filters, in the order of their numbers, from behind `after`."""
        found = {one.number: one for each in wanted for one in await self._store.find(each, after=after, limit=limit)}
        return [found[number] for number in sorted(found)][:limit]

    async def replay(self, wanted: Sequence[DeadLetterFilter]) -> int:
        """Open the tasks of letters that fit one of the filters again; return how many."""
        return sum([await self._lifecycle.replay(one) for one in wanted])

    async def replay_one(self, number: int) -> int:
        """Open the task of a letter again; return 0 for one that was replayed before, or whose run is gone."""
        await self.get(number)
        return await self.replay([DeadLetterFilter(number=number)])

    async def purge(self, age_ms: int) -> int:
        """Delete letters of failures that are older than an age; return how many."""
        before, total = self._clock.now() - age_ms, 0
        while deleted := await self._store.purge(before, BATCH_SIZE):
            total += deleted
        return total


def filters_of(base: DeadLetterFilter, reasons: Sequence[str], status: int | None) -> list[DeadLetterFilter]:
    """Return a filter for each of several reasons, and one for a status."""
    if status is not None:
        return [msgspec.structs.replace(base, status=status)]
    return [msgspec.structs.replace(base, reason=reason) for reason in reasons] if reasons else [base]
