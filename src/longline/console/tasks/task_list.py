"""Tasks of all runs or of one, by state, and moves of many of them at once."""

from typing import Annotated, Any, Literal

import msgspec

from longline.console.pages import Pages
from longline.console.visitor import Visitor
from longline.model.callers.audit import name_action
from longline.model.errors import BadInput
from longline.model.states import TaskState, legal
from longline.services.frontier.task_lists import TaskLists
from longline.services.frontier.task_moves import TaskMoves
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_CHOSEN = 500

BulkMove = Literal["pause", "resume", "cancel", "restart", "reparse"]
BULK_MOVES: tuple[BulkMove, ...] = BulkMove.__args__  # type: ignore[attr-defined]  # the members of a Literal


class TaskListServices(msgspec.Struct, frozen=True):
    """The services behind the list of tasks."""

    pages: Pages
    tasks: TaskLists
    mover: TaskMoves


class TaskListQuery(msgspec.Struct, frozen=True):
    """The run and the state of the tasks, and the place in the list."""

    run: int | None = None
    state: TaskState | None = None
    before: int | None = None


class BulkForm(msgspec.Struct, frozen=True):
    """Chosen tasks, as numbers with spaces or commas between them, and the move to make with them."""

    csrf: str
    move: BulkMove
    tasks: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""

    def ids(self) -> list[int]:
        """Return the chosen tasks; raise `BadInput` for none, for too many, and for text that is no number."""
        words = self.tasks.replace(",", " ").split()
        if not words or len(words) > MAX_CHOSEN or not all(word.isascii() and word.isdigit() for word in words):
            raise BadInput(f"choose from 1 to {MAX_CHOSEN} tasks")
        return [int(word) for word in words]


class PriorityForm(BulkForm, frozen=True):
    """Chosen tasks and their new priority, of which the lowest goes first."""

    move: BulkMove = "pause"
    priority: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 500


@operation("GET", "/console/tasks", "Show tasks", access="reader")
async def show_tasks(services: TaskListServices, query: TaskListQuery, identity: Visitor) -> ApiResponse[Any]:
    found, older = await services.tasks.find(query.run, query.state, query.before, PAGE_SIZE)
    return services.pages.page(
        "tasks/list.html",
        identity,
        section="tasks",
        tasks=[(task, [name for name in legal("task", task.state, "person") if name in BULK_MOVES]) for task in found],
        filters={"run": query.run, "state": query.state},
        states=tuple(TaskState),
        older=older,
        bulk_moves=BULK_MOVES,
    )


@operation("POST", "/console/tasks/move", "Move tasks", access="action", action="task.move")
async def move_tasks(services: TaskListServices, body: BulkForm, identity: Visitor) -> ApiResponse[Any]:
    name_action(f"task.{body.move}")
    moved = await services.mover.make(body.move, body.ids(), body.reason.strip() or None)
    return services.pages.page("tasks/moved.html", identity, section="tasks", move=body.move, results=moved)


@operation("POST", "/console/tasks/priority", "Give tasks a priority", access="action", action="task.prioritize")
async def prioritize_tasks(services: TaskListServices, body: PriorityForm, identity: Visitor) -> ApiResponse[Any]:
    found = await services.mover.prioritize(body.ids(), body.priority)
    return services.pages.page("tasks/prioritized.html", identity, section="tasks", found=found)


TASK_LIST = (show_tasks, move_tasks, prioritize_tasks)
