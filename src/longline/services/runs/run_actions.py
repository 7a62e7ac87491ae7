"""Actions on runs that people order: cancel one, and fetch its failed URLs again."""

from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import Conflict, IllegalMove
from longline.model.states import legal
from longline.services.frontier.task_moves import MAX_TASKS_PER_CALL, TaskMoves
from longline.services.runs.run_views import RunPages


class RunActions:
    """The actions; `model/states.py` says which of them a state allows."""

    def __init__(self, runs: RunPages, lifecycle: Lifecycle, tasks: TaskMoves) -> None:
        self._runs, self._lifecycle, self._tasks = runs, lifecycle, tasks

    async def cancel(self, run_id: int, reason: str | None = None) -> None:
        """Cancel a queued or running run with its open tasks; raise `NotFound`, or `IllegalMove` for an ended run."""
        await self._lifecycle.move(MoveRequest("run", run_id, "cancel", "person", reason=reason))

    async def retry_failed(self, run_id: int, reason: str | None = None) -> int:
        """Fetch the failed URLs of an ended run again, which opens the run; return their number.

        At most `MAX_TASKS_PER_CALL` URLs are taken, the oldest first.
        """
        run = await self._runs.get(run_id)
        moves = legal("run", run.state, "person")
        if "reopen" not in moves:
            raise IllegalMove("run", "reopen", run.state, moves)
        failed = await self._runs.failed_tasks(run_id, MAX_TASKS_PER_CALL)
        if not failed:
            raise Conflict(f"run {run_id} has no failed URL")
        return len(await self._tasks.restart(failed, reason=reason))
