"""The page of one schedule: its state, its moves, its history, and the form of a new one."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import msgspec

from longline.console.actions import acted
from longline.console.drawing.state_diagram import moves_from, state_diagram
from longline.console.error_pages import wrong_fields
from longline.console.schedules.schedule_list import buttons_of, with_sources
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.audit import name_action
from longline.model.errors import BadInput, Conflict
from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.model.sources.source import SourceRow
from longline.model.urls.url import BadUrl, parse
from longline.model.whole_number import whole_number
from longline.services.frontier.task_lists import TaskLists
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.services.schedules.run_history import Runs
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_overview import SourceOverviews
from longline.services.sources.sources import Sources
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiResponse, operation

MAX_RUNS = 20
MAX_URL_CHARS = 4000

Unit = Literal["minutes", "hours", "days"]
UNITS = get_args(Unit)

ScheduleMove = Literal["force_run", "pause", "resume", "retry", "cancel"]


class SchedulePageServices(msgspec.Struct, frozen=True):
    """The services behind the page of a schedule."""

    pages: Pages
    schedules: Schedules
    runs: Runs
    intervals: AdaptiveIntervals
    events: TaskLists
    sources: Sources
    overviews: SourceOverviews


class NewScheduleQuery(msgspec.Struct, frozen=True):
    """The source that the schedule is for."""

    source: int | None = None


class NewScheduleForm(msgspec.Struct, frozen=True):
    """The form of a new schedule; without an interval it runs once, now."""

    source: int
    every: str = ""
    unit: Unit = "hours"
    url: str = ""

    def spec(self, source: SourceRow) -> ScheduleSpec:
        """Return the terms of the schedule; raise `InvalidRequest` with every wrong field."""
        problems = [*self._problems_of_url()]
        text = self.every.strip()
        every = whole_number(text)
        terms = ScheduleSpec(
            url=self.url.strip() or source.base_url,
            source_ref=source.public_id,
            source_name=source.name,
            every=every,
            unit=self.unit,
            enabled=bool(text),
        )
        try:
            if text and every is None:
                raise BadInput("The interval is a whole number, or empty for a single run.")
            terms.check()
        except BadInput as error:
            # The form asks for nothing else that the check looks at.
            problems.append(Problem("every", "check", str(error)))
        if problems:
            raise InvalidRequest(problems)
        return terms

    def _problems_of_url(self) -> Iterator[Problem]:
        if len(self.url) > MAX_URL_CHARS:
            yield Problem("url", "check", "The start URL is too long.")
        elif self.url.strip():
            try:
                parse(self.url.strip())
            except BadUrl as error:
                yield Problem("url", "check", f"This is no URL: {error.why}.")


@operation("GET", "/console/schedules/{uid}", "Show a schedule", access="reader")
async def show_schedule(services: SchedulePageServices, uid: str, identity: Visitor) -> ApiResponse[Any]:
    [(row, source_name)] = await with_sources(services.overviews, [await services.schedules.get(uid)])
    runs, total = await services.runs.find(uid, MAX_RUNS, 0)
    return services.pages.page(
        "schedules/page.html",
        identity,
        section="schedules",
        schedule=row,
        source_name=source_name,
        factor=await services.intervals.factor(row),
        **_ways(row.state),
        runs=runs,
        total=total,
        events=await services.events.events("schedule", row.id),
    )


def _ways(state: str) -> dict[str, Any]:
    """Return the ways out of a state: the diagram, the moves, and the buttons of a person."""
    moves = moves_from("schedule", state)
    return {"diagram": state_diagram("schedule", state), "moves": moves, "buttons": buttons_of(state)}


@operation("POST", "/console/schedules/{uid}/{move}", "Move a schedule", access="action", action="schedule.move")
async def move_schedule(services: SchedulePageServices, uid: str, move: ScheduleMove) -> ApiResponse[Any]:
    name_action(f"schedule.{'force' if move == 'force_run' else move}")
    row = await _moved(services.schedules, uid, move)
    return acted(f"/console/schedules/{uid}", f"The schedule is {row.state} now.")


async def _moved(schedules: Schedules, uid: str, move: ScheduleMove) -> ScheduleRow:
    made = {
        "force_run": schedules.force,
        "pause": schedules.pause,
        "resume": schedules.resume,
        "retry": schedules.retry,
        "cancel": schedules.cancel,
    }
    return await made[move](uid)


@operation("GET", "/console/schedules/new", "Show the form of a new schedule", access="reader")
async def show_new_schedule(
    services: SchedulePageServices, query: NewScheduleQuery, identity: Visitor
) -> ApiResponse[Any]:
    return await _form(services, identity, query.source, NewScheduleForm(query.source or 0))


@operation("POST", "/console/schedules", "Make a schedule", access="action", action="schedule.create")
async def make_schedule(services: SchedulePageServices, body: NewScheduleForm, identity: Visitor) -> ApiResponse[Any]:
    source = await services.sources.get(body.source)
    try:
        row = await services.schedules.make(body.spec(source))
    except BadInput as error:
        return await _form(services, identity, source.id, body, dict(wrong_fields(error)))
    except Conflict as error:
        return await _form(services, identity, source.id, body, {"": str(error)})
    return acted(f"/console/schedules/{row.uid}", "The schedule is made.")


async def _form(
    services: SchedulePageServices,
    visitor: Visitor,
    source_id: int | None,
    given: NewScheduleForm,
    problems: Mapping[str, str] | None = None,
) -> ApiResponse[Any]:
    source = None if source_id is None else await services.sources.get(source_id)
    return services.pages.page(
        "schedules/form.html",
        visitor,
        section="schedules",
        is_refusal=bool(problems),
        source=source,
        given=given,
        units=UNITS,
        problems=problems or {},
    )


SCHEDULE_PAGE = (show_schedule, move_schedule, show_new_schedule, make_schedule)
