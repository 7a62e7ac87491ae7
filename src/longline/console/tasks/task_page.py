"""The page of one task: its place among the states, its lease, its moves, its page in the archive and its items."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.console.actions import acted
from longline.console.drawing.state_diagram import moves_from, state_diagram
from longline.console.tasks.task_list import BUTTONS
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.audit import name_action
from longline.model.errors import LonglineError
from longline.model.search.item import ItemRow
from longline.services.archive.pages import ArchivedPage, ArchivedPages
from longline.services.frontier.task_actions import PAGE_ORDERS, OrderName, TaskOrders, orders_of
from longline.services.frontier.task_lists import TaskLists, WholeTask
from longline.surfaces.operation import ApiResponse, operation

MAX_SHOWN_CHARS = 20_000
"""Characters of a stored page that are shown."""

MAX_FIELDS = 12
"""Fields of each item that are shown; the page of the item has all."""

OUTCOMES: Mapping[OrderName, str] = {
    "pending": "The task is pending again.",
    "release": "The lock of the task is reset.",
    "expire": "The task is marked expired.",
    "pause": "The task is paused.",
    "resume": "The task is open again and due now.",
    "cancel": "The task is cancelled.",
    "restart": "The task starts again at its first attempt.",
    "reparse": "The stored page of the task will be parsed again.",
}


class TaskPageServices(msgspec.Struct, frozen=True):
    """The services behind the page of a task."""

    pages: Pages
    tasks: TaskLists
    orders: TaskOrders
    archive: ArchivedPages


@operation("GET", "/console/tasks/{task_id}", "Show a task", access="reader")
async def show_task(services: TaskPageServices, task_id: int, identity: Visitor) -> ApiResponse[Any]:
    whole = await services.tasks.get(task_id)
    stored, problem = await _stored(services.archive, whole)
    return services.pages.page(
        "tasks/page.html",
        identity,
        section="tasks",
        whole=whole,
        task=whole.task,
        **_ways(whole),
        items=[(item, _fields(item)) for item in whole.items],
        stored=stored,
        problem=problem,
    )


def _ways(whole: WholeTask) -> dict[str, Any]:
    """Return the ways of a task: the diagram, the moves from its state, and the buttons of a person."""
    state, has_page = whole.task.state, whole.page is not None
    impossible = frozenset[str]() if has_page else PAGE_ORDERS
    return {
        "diagram": state_diagram("task", state, _passed(whole), impossible),
        "moves": moves_from("task", state, impossible),
        "buttons": [(name, BUTTONS[name]) for name in orders_of(state, has_page=has_page)],
    }


def _fields(item: ItemRow) -> list[tuple[str, Any]]:
    """Return the first fields of an item."""
    return list(msgspec.json.decode(item.fields, type=dict[str, Any]).items())[:MAX_FIELDS]


async def _stored(archive: ArchivedPages, whole: WholeTask) -> tuple[str | None, str]:
    """Return the beginning of the stored page as text, or the reason why there is none."""
    if whole.page is None:
        return None, "No page of this task is in the archive."
    try:
        return _text(await archive.by_task(whole.task.id)), ""
    except LonglineError as error:
        return None, str(error)


def _text(page: ArchivedPage) -> str:
    if b"\0" in page.body[:1000]:
        return f"A file of {len(page.body):,} bytes that is no text."
    return page.body[: 4 * MAX_SHOWN_CHARS].decode(errors="replace")[:MAX_SHOWN_CHARS]


def _passed(whole: WholeTask) -> set[str]:
    """Return the states that the task has passed, as far as its history is known."""
    known = {state for one in whole.history for state in (one.was, one.became) if state}
    return known | ({"pending"} if whole.task.state != "pending" else set())


@operation("POST", "/console/tasks/{task_id}/{move}", "Move a task", access="action", action="task.move")
async def move_task(services: TaskPageServices, task_id: int, move: OrderName, identity: Visitor) -> ApiResponse[Any]:
    name_action(f"task.{move}")
    [result] = await services.orders.give(move, [task_id], identity.reason)
    if result.error is not None:
        raise result.error
    return acted(f"/console/tasks/{task_id}", OUTCOMES[move])


TASK_PAGE = (show_task, move_task)
