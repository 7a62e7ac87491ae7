"""Batches: labels for recrawls that are moved together, each judged by itself."""

from collections.abc import Awaitable, Callable, Sequence

from longline.engine.lifecycle.tasks import TaskResult
from longline.model.errors import NotFound
from longline.model.recrawls.recrawl_lists import BatchRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.frontier.task_moves import TaskMoves

MEMBERS_AT_ONCE = 5000
FAILED_STATES = frozenset({TaskState.FAILED, TaskState.SKIPPED})

Move = Callable[[Sequence[int]], Awaitable[list[TaskResult]]]


class Batches:
    """Batches of recrawls."""

    def __init__(self, records: Records, moves: TaskMoves) -> None:
        self._batches, self._orders = records.batches, moves

    async def make(self, name: str) -> BatchRow:
        """Make a batch."""
        return await self._batches.add(name)

    async def get(self, batch_id: int) -> BatchRow:
        """Return a batch with its counts; raise `NotFound` for an unknown id."""
        row = await self._batches.get(batch_id)
        if row is None:
            raise NotFound("batch", batch_id)
        return row

    async def find(self, *, limit: int, offset: int) -> tuple[list[BatchRow], int]:
        """Return batches, the newest first, and their total number."""
        return await self._batches.find(limit=limit, offset=offset)

    async def pause(self, batch_id: int) -> list[int]:
        """Pause the recrawls of a batch that can be paused; return them."""
        return await self._move(batch_id, self._orders.pause)

    async def resume(self, batch_id: int) -> list[int]:
        """Resume the paused recrawls of a batch; return them."""
        return await self._move(batch_id, self._orders.resume)

    async def cancel(self, batch_id: int) -> list[int]:
        """Cancel the recrawls of a batch; return those that were not cancelled before."""
        return await self._move(batch_id, self._orders.cancel)

    async def restart(self, batch_id: int, *, only_failed: bool = False) -> list[int]:
        """Restart the recrawls of a batch, or only the failed ones; return them."""
        return await self._move(batch_id, self._restart_failed if only_failed else self._orders.restart)

    async def _restart_failed(self, task_ids: Sequence[int]) -> list[TaskResult]:
        return await self._orders.restart(task_ids, only=FAILED_STATES)

    async def _move(self, batch_id: int, move: Move) -> list[int]:
        await self.get(batch_id)
        moved: list[int] = []
        after = 0
        while found := await self._batches.members(batch_id, after=after, limit=MEMBERS_AT_ONCE):
            moved += [one.task_id for one in await move(found) if one.became is not None]
            after = found[-1]
        return moved
