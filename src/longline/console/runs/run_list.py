"""The list of runs of all kinds: filters in the address, paged by key."""

from typing import Annotated, Any

import msgspec

from longline.console.live_updates import LivePages
from longline.console.runs.live_runs import LiveRuns, RunRows
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.runs.run import RunKind
from longline.model.runs.run_view import MAX_SEARCHED_RUNS, RunQuery
from longline.model.states import RunState
from longline.model.whole_number import whole_number
from longline.services.runs.run_views import RunPages
from longline.surfaces.operation import ApiResponse, operation
from longline.surfaces.sse import EventStream

PAGE_SIZE = 50
MAX_TEXT_CHARS = 500


class RunListServices(msgspec.Struct, frozen=True):
    """The services behind the list of runs."""

    pages: Pages
    runs: RunPages
    live: LivePages
    rows: LiveRuns


class RunListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    state: RunState | None = None
    kind: RunKind | None = None
    source: int | None = None
    schedule: int | None = None
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""
    before: int | None = None
    after: int | None = None

    @property
    def choice(self) -> RunQuery:
        """The runs that are chosen."""
        return RunQuery(self.state, self.kind, self.source, self.text.strip() or None, self.schedule)

    @property
    def filters(self) -> dict[str, Any]:
        """The filters as they are in the address."""
        names = ("state", "kind", "source", "schedule", "text")
        return {name: getattr(self, name) for name in names}


class RunStreamQuery(RunListQuery, frozen=True):
    """The filters of a list, its runs, and whether newer runs are announced on it."""

    shown: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    announces: bool = False

    def rows(self) -> RunRows:
        """Return the runs to be followed; words that are no numbers are ignored."""
        ids = [number for word in self.shown.split(",") if (number := whole_number(word)) is not None]
        return RunRows(self.choice, tuple(ids[:PAGE_SIZE]), self.announces and not self.text.strip(), self.filters)


class RunStreamHeaders(msgspec.Struct, frozen=True):
    """The mark of the last parts that the browser has, when it connects again."""

    last_event_id: str = msgspec.field(default="", name="last-event-id")


@operation("GET", "/console/runs", "Show runs", access="reader")
async def show_runs(services: RunListServices, query: RunListQuery, identity: Visitor) -> ApiResponse[Any]:
    return services.pages.page(
        "runs/list.html",
        identity,
        section="runs",
        found=await services.runs.find(query.choice, PAGE_SIZE, before=query.before, after=query.after),
        counts=await services.runs.counts(),
        filters=query.filters,
        states=tuple(RunState),
        kinds=tuple(RunKind),
        searched=MAX_SEARCHED_RUNS,
        is_newest=query.before is None and query.after is None,
        newer=0,
    )


@operation("GET", "/console/runs/stream", "Follow the runs of a list", access="reader")
async def follow_runs(
    services: RunListServices, query: RunStreamQuery, headers: RunStreamHeaders, identity: Visitor
) -> EventStream:
    return services.live.stream([services.rows.frames(query.rows(), headers.last_event_id)], identity.session)


RUN_LIST = (show_runs, follow_runs)
