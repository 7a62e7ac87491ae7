"""The list of schedules, the slots of the coming day, and the rebalancing."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from longline.console.drawing.slot_bars import shade, slot_bars
from longline.console.pages import Pages, redirect
from longline.console.visitor import Visitor
from longline.model.schedules.schedule import ScheduleFilter, ScheduleKind
from longline.model.states import ScheduleState, legal
from longline.services.schedules.schedules import Schedules
from longline.services.schedules.slots import SlotMap, Slots
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_START = 100_000

BUTTONS: Mapping[str, str] = {
    "force_run": "Run now",
    "pause": "Pause",
    "resume": "Resume",
    "retry": "Retry",
    "cancel": "Cancel…",
}
"""Moves of people, with the words on their buttons."""


class ScheduleListServices(msgspec.Struct, frozen=True):
    """The services behind the list of schedules."""

    pages: Pages
    schedules: Schedules
    slots: Slots


class ScheduleListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    state: ScheduleState | None = None
    text: Annotated[str, msgspec.Meta(max_length=500)] = ""
    start: Annotated[int, msgspec.Meta(ge=0, le=MAX_START)] = 0

    @property
    def choice(self) -> ScheduleFilter:
        """The schedules that are chosen, the soonest first."""
        states = () if self.state is None else (self.state.value,)
        text = self.text.strip() or None
        return ScheduleFilter(ScheduleKind.CRAWL, states, search=text, sort="next_run_at", ascending=True)


class RebalanceForm(msgspec.Struct, frozen=True):
    """The form that applies a rebalancing."""

    csrf: str
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


def buttons_of(state: str) -> list[tuple[str, str]]:
    """Return the moves that a person may make from a state, each with the words on its button."""
    return [(name, BUTTONS[name]) for name in legal("schedule", state, "person") if name in BUTTONS]


@operation("GET", "/console/schedules", "Show schedules", access="reader")
async def show_schedules(
    services: ScheduleListServices, query: ScheduleListQuery, identity: Visitor
) -> ApiResponse[Any]:
    found, total = await services.schedules.find(query.choice, PAGE_SIZE, query.start)
    return services.pages.page(
        "schedules/list.html",
        identity,
        section="schedules",
        schedules=[(row, buttons_of(row.state)) for row in found],
        total=total,
        states=await services.schedules.states(),
        filters={"state": query.state, "text": query.text},
        start=query.start,
        older=query.start + PAGE_SIZE if query.start + PAGE_SIZE < total else None,
        **_drawn(await services.slots.day()),
    )


def _drawn(day: SlotMap) -> dict[str, Any]:
    """Return the map of the day and the bars of the rebalancing."""
    most = max(*day.before, *day.after, 1)
    return {
        "day": day,
        "most": most,
        "shade": shade,
        "bars_before": slot_bars(day.before, most, day.start),
        "bars_after": slot_bars(day.after, most, day.start),
    }


@operation(
    "POST",
    "/console/schedules/rebalance",
    "Spread schedules evenly over the slots",
    access="action",
    action="schedule.rebalance",
)
async def rebalance(services: ScheduleListServices, body: RebalanceForm) -> ApiResponse[Any]:  # noqa: ARG001 - the form carries the token of its session
    await services.slots.rebalance(apply=True)
    return redirect("/console/schedules")


SCHEDULE_LIST = (show_schedules, rebalance)
