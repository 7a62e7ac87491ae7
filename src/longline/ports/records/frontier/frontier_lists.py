"""Lists of the frontier for people. Every call goes by an index and reads a bounded number of rows."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.frontier.frontier_lists import (
    ANY_TASK,
    HeldTask,
    LeasedTask,
    ListedHost,
    PlaceInLine,
    QueuedTask,
    TaskChoice,
    TaskExecutor,
)
from longline.model.frontier.task import TaskRow
from longline.model.logs.event import Event
from longline.model.states import Noun


class HostListStore(Protocol):
    """Hosts in line, and the tasks in their queues."""

    async def free(self, *, after: tuple[int, int] = (-1, 0), limit: int = 50) -> list[ListedHost]:
        """Return hosts that no worker holds, the longest due first, from behind (due time, host)."""
        ...

    async def held(
        self, *, owner: int | None = None, after: tuple[int, int] = (-1, 0), limit: int = 50
    ) -> list[ListedHost]:
        """Return hosts that workers hold, or one worker, by the end of the lease, from behind (that time, host)."""
        ...

    async def named(self, prefix: str, *, after: str = "", limit: int = 50) -> list[ListedHost]:
        """Return hosts whose names begin with a text, by name, from behind a name."""
        ...

    async def get(self, host: str) -> ListedHost | None:
        """Return one host."""
        ...

    async def queue(self, host_id: int, *, after: PlaceInLine | None = None, limit: int = 50) -> list[QueuedTask]:
        """Return the tasks in the queue of a host, in its order, from behind a place."""
        ...

    async def in_hand(self, hosts: Sequence[ListedHost]) -> list[QueuedTask]:
        """Return the tasks of held hosts that are leased by the holders, among the first of each queue."""
        ...

    async def taken(self, limit: int = 50) -> list[HeldTask]:
        """Return tasks that parsers and bots hold without their hosts, by the end of the lease."""
        ...


class TaskListStore(Protocol):
    """Tasks of runs by state, and the facts around one task."""

    async def of_run(
        self, run_id: int, wanted: TaskChoice = ANY_TASK, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[TaskRow], int | None]:
        """Return the wanted tasks of a run, newest first, and the id before which the list goes on.

        A page may be short, even empty, although older tasks follow: it reads a bounded number of them.
        """
        ...

    async def newest(
        self, wanted: TaskChoice = ANY_TASK, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[TaskRow], int | None]:
        """Return the wanted tasks of all runs, newest first, like `of_run`."""
        ...

    async def executors(self, task_ids: Sequence[int]) -> list[TaskExecutor]:
        """Return the executors and the present states of tasks; unknown ids are left out."""
        ...

    async def with_pages(self, task_ids: Sequence[int]) -> set[int]:
        """Return those of the tasks that have a page in the archive."""
        ...

    async def lease(self, task_id: int) -> LeasedTask | None:
        """Return the lease and the origin of a task."""
        ...

    async def items(self, task_id: int) -> list[int]:
        """Return the ids of the items that were made of the page of a task."""
        ...

    async def events(self, noun: Noun, subject: int, limit: int = 50) -> list[Event]:
        """Return the events of one schedule, run or task, newest first, without the reports of tasks."""
        ...

    async def reports(self, run_id: int, task_id: int, limit: int = 50) -> list[Event]:
        """Return the reports of a run that moved one task, newest first, among the latest of the run."""
        ...
