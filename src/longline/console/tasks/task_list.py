"""Tasks of all runs or of one, by state, and moves of many of them at once."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.audit import name_action
from longline.model.errors import BadInput
from longline.model.frontier.frontier_lists import OPEN, TaskChoice
from longline.model.states import TaskState
from longline.model.whole_number import whole_numbers
from longline.services.frontier.task_actions import OrderName, TaskOrders, orders_of
from longline.services.frontier.task_lists import TaskLists
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_CHOSEN = 500

BUTTONS: Mapping[OrderName, str] = {
    "pending": "Mark pending",
    "release": "Reset lock",
    "expire": "Mark expired",
    "pause": "Pause",
    "resume": "Resume",
    "restart": "Restart",
    "reparse": "Parse again",
    "cancel": "Cancel",
}
"""Orders with the words on their buttons."""


StateFilter = Literal[
    "open",
    "pending",
    "queued",
    "crawling",
    "downloaded",
    "queued_parse",
    "parsing",
    "paused",
    "expired",
    "completed",
    "skipped",
    "failed",
    "cancelled",
]
"""States by which tasks are chosen: all open ones together, or one."""


class TaskListServices(msgspec.Struct, frozen=True):
    """The services behind the list of tasks."""

    pages: Pages
    tasks: TaskLists
    orders: TaskOrders


class TaskListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    run: int | None = None
    state: StateFilter | None = None
    host: Annotated[str, msgspec.Meta(max_length=255)] = ""
    reason: Annotated[str, msgspec.Meta(max_length=100)] = ""
    before: int | None = None

    @property
    def wanted(self) -> TaskChoice:
        """The tasks that are chosen."""
        return TaskChoice(self.state, self.host.strip().lower() or None, self.reason.strip() or None)

    @property
    def filters(self) -> dict[str, Any]:
        """The filters as they are in the address."""
        return {"run": self.run, "state": self.state, "host": self.host, "reason": self.reason}


class ChosenTasks(msgspec.Struct, frozen=True):
    """Chosen tasks, as numbers with spaces or commas between them."""

    tasks: Annotated[str, msgspec.Meta(max_length=20_000)] = ""

    def ids(self) -> list[int]:
        """Return the chosen tasks; raise `BadInput` for none, for too many, and for text that is no number."""
        found = whole_numbers(self.tasks, MAX_CHOSEN)
        if found is None:
            raise BadInput(f"choose from 1 to {MAX_CHOSEN} tasks")
        return found


class OrderForm(ChosenTasks, frozen=True, kw_only=True):
    """Chosen tasks and the order for them."""

    move: OrderName


class PriorityForm(ChosenTasks, frozen=True):
    """Chosen tasks and their new priority, of which the lowest goes first."""

    priority: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 500


@operation("GET", "/console/tasks", "Show tasks", access="reader")
async def show_tasks(services: TaskListServices, query: TaskListQuery, identity: Visitor) -> ApiResponse[Any]:
    found, older = await services.tasks.find(query.run, query.wanted, query.before, PAGE_SIZE)
    with_pages = await services.tasks.with_pages(found)
    return services.pages.page(
        "tasks/list.html",
        identity,
        section="tasks",
        tasks=[(task, orders_of(task.state, has_page=task.id in with_pages)) for task in found],
        filters=query.filters,
        states=tuple(TaskState),
        open_states=OPEN,
        older=older,
        buttons=BUTTONS,
    )


@operation("POST", "/console/tasks/move", "Move tasks", access="action", action="task.move")
async def move_tasks(services: TaskListServices, body: OrderForm, identity: Visitor) -> ApiResponse[Any]:
    name_action(f"task.{body.move}")
    moved = await services.orders.give(body.move, body.ids(), identity.reason)
    return services.pages.page("tasks/moved.html", identity, section="tasks", words=BUTTONS[body.move], results=moved)


@operation("POST", "/console/tasks/priority", "Give tasks a priority", access="action", action="task.prioritize")
async def prioritize_tasks(services: TaskListServices, body: PriorityForm, identity: Visitor) -> ApiResponse[Any]:
    found = await services.orders.prioritize(body.ids(), body.priority)
    return services.pages.page("tasks/prioritized.html", identity, section="tasks", found=found)


TASK_LIST = (show_tasks, move_tasks, prioritize_tasks)
