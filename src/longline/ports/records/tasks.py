"""Tasks as somebody who looks sees them."""

from typing import Protocol

from longline.model.task import PageFacts, TaskRow


class Tasks(Protocol):
    """Looks tasks up; they are written by `Frontier`, `Hands` and `Moves`."""

    async def get(self, task_id: int) -> TaskRow | None:
        """One task, with the state it has now, in hand or at rest."""
        ...

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        """Tasks in the order they were admitted, from behind id `after`."""
        ...

    async def page(self, task_id: int) -> tuple[str, PageFacts] | None:
        """The key of the segment that holds the task's page, and the page's facts."""
        ...

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        """Whether a scope has a task of this URL; host and key are those of its tasks."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many tasks are open, and how many ended in each way."""
        ...
