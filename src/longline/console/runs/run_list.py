"""The list of runs of all kinds: filters in the address, paged by key."""

from typing import Annotated, Any

import msgspec

from longline.console.pages import Pages
from longline.console.visitor import Visitor
from longline.model.runs.run import RunKind
from longline.model.runs.run_view import MAX_SEARCHED_RUNS, RunQuery
from longline.model.states import RunState
from longline.services.runs.run_pages import RunPages
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_TEXT_CHARS = 500


class RunListServices(msgspec.Struct, frozen=True):
    """The services behind the list of runs."""

    pages: Pages
    runs: RunPages


class RunListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    state: RunState | None = None
    kind: RunKind | None = None
    source: int | None = None
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""
    before: int | None = None
    after: int | None = None

    @property
    def choice(self) -> RunQuery:
        """The runs that are chosen."""
        return RunQuery(self.state, self.kind, self.source, self.text.strip() or None)

    @property
    def filters(self) -> dict[str, Any]:
        """The filters as they are in the address."""
        return {"state": self.state, "kind": self.kind, "source": self.source, "text": self.text}


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
    )


RUN_LIST = (show_runs,)
