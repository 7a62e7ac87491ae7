"""Moves of recrawls by people: pause, resume, cancel, restart, parse again and priority."""

from collections.abc import Awaitable, Callable, Sequence

from longline.engine.archive.page_reader import PageReader
from longline.engine.lifecycle.tasks import TaskResult
from longline.model.errors import BadInput, IllegalMove, NotFound
from longline.model.recrawls.recrawl import PRIORITY_STEP
from longline.model.recrawls.recrawl_lists import RecrawlRow
from longline.model.states import TaskState
from longline.services.frontier.task_moves import TaskMoves
from longline.services.recrawls.recrawls import Recrawls


class PageMissing(BadInput):
    """A task without a readable page in the archive."""


class RecrawlMoves:
    """The moves that people make with recrawls; each returns the recrawl after it."""

    def __init__(self, recrawls: Recrawls, moves: TaskMoves, pages: PageReader) -> None:
        self._recrawls, self._orders, self._pages = recrawls, moves, pages

    async def pause(self, task_id: int) -> tuple[RecrawlRow, RecrawlRow]:
        """Pause a recrawl; return it as it was before and after."""
        return await self._moved(task_id, self._orders.pause)

    async def resume(self, task_id: int) -> tuple[RecrawlRow, RecrawlRow]:
        """Resume a paused recrawl, which is due at once; return it as it was before and after."""
        return await self._moved(task_id, self._orders.resume)

    async def cancel(self, task_id: int) -> RecrawlRow:
        """Cancel a recrawl, which has no next generation then; a cancelled one stays cancelled.

        The returned row may be in another state: a restart can follow between the move and the reading.
        """
        try:
            return (await self._moved(task_id, self._orders.cancel))[1]
        except IllegalMove as error:
            if error.state != TaskState.CANCELLED:
                raise
            return await self._recrawls.get(task_id)  # cancelled by an earlier call, or by one at the same time

    async def restart(
        self,
        task_id: int,
        *,
        reset_retries: bool = True,
        priority: int | None = None,
        due_at: int | None = None,
    ) -> RecrawlRow:
        """Fetch a recrawl in any state again, now or at a later time."""

        async def move(task_ids: Sequence[int]) -> list[TaskResult]:
            stored = None if priority is None else priority * PRIORITY_STEP
            return await self._orders.restart(task_ids, keep_attempts=not reset_retries, due=due_at, priority=stored)

        return (await self._moved(task_id, move))[1]

    async def reparse(self, task_id: int, *, reset_retries: bool = True) -> RecrawlRow:
        """Parse the archived page of a recrawl again; raise `PageMissing` where the page cannot be read."""
        row = await self._recrawls.get(task_id)
        if not row.has_page or await self._pages.find(task_id) is None:
            raise PageMissing(f"the page of task {task_id} is not in the archive")

        async def move(task_ids: Sequence[int]) -> list[TaskResult]:
            return await self._orders.reparse(task_ids, keep_attempts=not reset_retries)

        return (await self._moved(task_id, move))[1]

    async def restart_failed(
        self, *, source_id: int | None = None, failed_after: int | None = None, limit: int = 1000
    ) -> list[int]:
        """Restart failed recrawls, the oldest failures first; return those that were restarted."""
        found = await self._recrawls.failed(source_id=source_id, failed_after=failed_after, limit=limit)
        return [one.task_id for one in await self._orders.restart(found) if one.became is not None]

    async def prioritize(self, task_id: int, priority: int) -> tuple[RecrawlRow, RecrawlRow]:
        """Give a recrawl another priority; return it as it was before and after."""
        before = await self._recrawls.get(task_id)
        if not await self._orders.prioritize([task_id], priority * PRIORITY_STEP):
            raise NotFound("task", task_id)
        return before, await self._recrawls.get(task_id)

    async def _moved(
        self, task_id: int, move: Callable[[Sequence[int]], Awaitable[list[TaskResult]]]
    ) -> tuple[RecrawlRow, RecrawlRow]:
        before = await self._recrawls.get(task_id)
        [result] = await move([task_id])
        if result.error is not None:
            raise result.error
        return before, await self._recrawls.get(task_id)
