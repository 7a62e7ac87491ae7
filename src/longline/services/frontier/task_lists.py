"""Tasks of runs by state, and one task with everything around it: lease, moves, page and items."""

from collections.abc import Sequence

import msgspec

from longline.model.archive.page import PageRow
from longline.model.errors import NotFound
from longline.model.frontier.frontier_lists import LeasedTask, TaskChoice
from longline.model.frontier.task import TaskRow
from longline.model.logs.event import Event
from longline.model.runs.run import RunRow
from longline.model.search.item import ItemRow
from longline.model.states import IN_HAND, Noun
from longline.ports.records import Records

MAX_MOVES = 50
"""Largest number of moves in the history of a task."""

MAX_ITEMS = 20
"""Largest number of items that are shown with a task."""


class TaskMoved(msgspec.Struct, frozen=True):
    """One move of a task: the states before and after it, its actor and its reason."""

    at: int
    was: str | None
    became: str | None
    actor: str
    reason: str | None


class WholeTask(msgspec.Struct, frozen=True):
    """A task with its run, its lease, its latest moves, its page in the archive and the items of the page."""

    task: TaskRow
    run: RunRow
    lease: LeasedTask
    history: Sequence[TaskMoved]
    page: PageRow | None
    items: Sequence[ItemRow]
    source: str = ""


class TaskLists:
    """Reader of tasks for people."""

    def __init__(self, records: Records) -> None:
        self._tasks, self._lists, self._runs = records.tasks, records.task_lists, records.runs
        self._pages, self._items, self._sources = records.pages, records.items, records.sources

    async def find(
        self, run_id: int | None, wanted: TaskChoice, before: int | None, limit: int
    ) -> tuple[list[TaskRow], int | None]:
        """Return wanted tasks of a run, or of all runs, newest first, and the id before which the list goes on.

        A task leased by a worker rests as `pending`: its state under a lease is a mark in the queue.
        """
        is_in_hand = wanted.state in IN_HAND
        rest = msgspec.structs.replace(wanted, state="pending") if is_in_hand else wanted
        found, older = (
            await self._lists.newest(rest, before=before, limit=limit)
            if run_id is None
            else await self._lists.of_run(run_id, rest, before=before, limit=limit)
        )
        return [task for task in found if not is_in_hand or task.state == wanted.state], older

    async def with_pages(self, tasks: Sequence[TaskRow]) -> set[int]:
        """Return the ids of those tasks that have a page in the archive."""
        return await self._lists.with_pages([task.id for task in tasks]) if tasks else set()

    async def get(self, task_id: int) -> WholeTask:
        """Return one task with everything around it; raise `NotFound` for an unknown one."""
        task, lease = await self._tasks.get(task_id), await self._lists.lease(task_id)
        run = await self._runs.get(task.run_id) if task is not None else None
        if task is None or lease is None or run is None:
            raise NotFound("task", task_id)
        source = await self._sources.get(run.source_id) if run.source_id is not None else None
        items = await self._items.get((await self._lists.items(task_id))[:MAX_ITEMS])
        name = source.name if source is not None else ""
        return WholeTask(task, run, lease, await self._history(task), await self._pages.get(task_id), items, name)

    async def events(self, noun: Noun, subject: int, limit: int = MAX_MOVES) -> list[Event]:
        """Return the latest events of a schedule, a run or a task, newest first."""
        return await self._lists.events(noun, subject, limit)

    async def _history(self, task: TaskRow) -> list[TaskMoved]:
        single = await self._lists.events("task", task.id, MAX_MOVES)
        found = [TaskMoved(one.at, one.was, one.became, one.actor, one.reason) for one in single]
        for report in await self._lists.reports(task.run_id, task.id, MAX_MOVES):
            found += _listed(report, task.id)
        return sorted(found, key=lambda one: one.at, reverse=True)[:MAX_MOVES]


def _listed(event: Event, task_id: int) -> list[TaskMoved]:
    """Return the moves of one task among those that a event lists."""
    listed = msgspec.json.decode(event.moves or "[]", type=list[tuple[int, str | None, str | None, str | None]])
    return [
        TaskMoved(event.at, was, became, event.actor, why) for found, was, became, why in listed if found == task_id
    ]
