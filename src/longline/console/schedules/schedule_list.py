"""The list of schedules, the slots of the coming day, and the rebalancing."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.drawing.slot_bars import shade_key, slot_bars, slot_map
from longline.console.paging import page_of
from longline.console.template_filters import counted
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import BadInput
from longline.model.schedules.schedule import ScheduleFilter, ScheduleKind, ScheduleRow
from longline.model.schedules.slots import Shift
from longline.model.states import ScheduleState, legal
from longline.services.schedules.schedule_lists import ScheduleLists
from longline.services.schedules.schedules import Schedules
from longline.services.schedules.slots import MAX_SHOWN_SHIFTS, Slots
from longline.services.sources.source_overview import SourceOverviews
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50

_MOVE = re.compile(r"[0-9]{1,18}:[0-9]{1,18}:[0-9]{1,18}", re.ASCII)

BUTTONS: Mapping[str, str] = {
    "force_run": "Run now",
    "pause": "Pause",
    "resume": "Resume",
    "retry": "Retry",
    "cancel": "Cancel…",
}
"""Moves of people, with the words on their buttons."""


WAITING = (ScheduleState.PENDING, ScheduleState.SCHEDULED)
"""States with a next start."""


class ScheduleListServices(msgspec.Struct, frozen=True):
    """The services behind the list of schedules."""

    pages: Pages
    schedules: Schedules
    lists: ScheduleLists
    slots: Slots
    sources: SourceOverviews


class ScheduleListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    state: ScheduleState | None = None
    text: Annotated[str, msgspec.Meta(max_length=500)] = ""
    due: int | None = None
    after: int | None = None

    @property
    def choice(self) -> ScheduleFilter:
        """The schedules that are chosen, the soonest first."""
        states = () if self.state is None else (self.state.value,)
        text = self.text.strip() or None
        place = None if self.after is None else (self.due, self.after)
        return ScheduleFilter(ScheduleKind.CRAWL, states, search=text, sort="next_run_at", ascending=True, after=place)


class ChosenMovesForm(msgspec.Struct, frozen=True):
    """Moves of the preview that were chosen, each as the number of a schedule, its next start and the new one."""

    chosen: Annotated[str, msgspec.Meta(max_length=20_000)] = ""

    def shifts(self) -> list[Shift]:
        """Return the chosen moves; raise `BadInput` for none, for too many, and for text that is no move."""
        words = self.chosen.split()
        if not words or len(words) > MAX_SHOWN_SHIFTS or not all(_MOVE.fullmatch(word) for word in words):
            raise BadInput(f"choose from 1 to {MAX_SHOWN_SHIFTS} schedules")
        return [Shift(schedule_id, "", old, new) for schedule_id, old, new in (map(int, w.split(":")) for w in words)]


def buttons_of(state: str) -> list[tuple[str, str]]:
    """Return the moves that a person may make from a state, each with the words on its button."""
    return [(name, BUTTONS[name]) for name in legal("schedule", state, "person") if name in BUTTONS]


@operation("GET", "/console/schedules", "Show schedules", access="reader")
async def show_schedules(
    services: ScheduleListServices, query: ScheduleListQuery, identity: Visitor
) -> ApiResponse[Any]:
    found = await services.lists.find(query.choice, PAGE_SIZE + 1)
    shown, last = page_of(found, PAGE_SIZE)
    day = await services.slots.day()
    return services.pages.page(
        "schedules/list.html",
        identity,
        section="schedules",
        schedules=[(row, name, buttons_of(row.state)) for row, name in await with_sources(services.sources, shown)],
        states=await services.schedules.states(),
        filters={"state": query.state, "text": query.text},
        older=None if last is None else _place(last),
        day=day,
        slot_map=slot_map,
        shades=shade_key(max(day.loads)),
    )


async def with_sources(sources: SourceOverviews, rows: Sequence[ScheduleRow]) -> list[tuple[ScheduleRow, str]]:
    """Return each schedule with the name that it was made with, or else that of its source, or else nothing."""
    found = await sources.named({row.source_ref for row in rows if row.source_ref and not row.source_name})
    return [(row, row.source_name or found.get(row.source_ref, "")) for row in rows]


def _place(last: ScheduleRow) -> dict[str, int | None]:
    """Return the place behind a schedule: its next start, and its number."""
    return {"due": last.next_due if last.state in WAITING else None, "after": last.id}


@operation("GET", "/console/schedules/rebalance", "Preview a rebalancing of schedules", access="reader")
async def show_rebalancing(services: ScheduleListServices, identity: Visitor) -> ApiResponse[Any]:
    day = await services.slots.preview()
    most = max(*day.before, *day.after, 1)
    return services.pages.page(
        "schedules/rebalance.html",
        identity,
        section="schedules",
        day=day,
        bars_before=slot_bars(day.before, most, day.start),
        bars_after=slot_bars(day.after, most, day.start),
    )


@operation(
    "POST",
    "/console/schedules/rebalance",
    "Spread schedules evenly over the slots",
    access="action",
    action="schedule.rebalance",
)
async def rebalance(services: ScheduleListServices) -> ApiResponse[Any]:
    _, moved = await services.slots.rebalance(apply=True)
    return acted("/console/schedules/rebalance", f"{counted(moved, 'schedule')} moved.")


@operation(
    "POST",
    "/console/schedules/rebalance/moves",
    "Move chosen schedules to the slots that were shown",
    access="action",
    action="schedule.rebalance",
)
async def move_chosen(services: ScheduleListServices, body: ChosenMovesForm) -> ApiResponse[Any]:
    chosen = body.shifts()
    moved = await services.slots.move(chosen)
    left = f" {counted(len(chosen) - moved, 'schedule')} changed meanwhile and stayed." if moved < len(chosen) else ""
    return acted("/console/schedules/rebalance", f"{counted(moved, 'schedule')} moved.{left}")


SCHEDULE_LIST = (show_schedules, show_rebalancing, rebalance, move_chosen)
