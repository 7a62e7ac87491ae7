"""One run: the fate of every URL, its failures by reason and host, its log, and its actions."""

from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.live_updates import Frames, LivePages
from longline.console.runs.host_table import host_table
from longline.console.runs.pace_curve import pace_curve
from longline.console.template_filters import counted
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.logs.run_log import LEVELS
from longline.model.runs.run_view import MAX_COUNTED_TASKS, RunView
from longline.model.states import legal
from longline.model.whole_number import whole_number
from longline.services.logs.live_logs import LiveLogs, LogMatch
from longline.services.runs.run_actions import RunActions
from longline.services.runs.run_views import RunDetail, RunPages
from longline.surfaces.operation import ApiResponse, operation
from longline.surfaces.sse import EventStream, frame

PARTS = ("head", "fates", "pace", "figures", "failures", "hosts")
"""Parts of the page that change while the run goes on."""

SHOWN_ENTRIES = 200
MAX_TEXT_CHARS = 200
DEFAULT_LEVELS = "info,warn,error"


class RunDetailServices(msgspec.Struct, frozen=True):
    """The services behind the page of a run."""

    pages: Pages
    runs: RunPages
    actions: RunActions
    logs: LiveLogs
    live: LivePages

    async def parts(self, run_id: int) -> dict[str, str]:
        """Return the rendered parts, which are the same for every visitor."""
        return self.pages.parts("runs/parts", PARTS, **shown(await self.runs.detail(run_id)))

    async def log_frames(self, run_id: int, match: LogMatch, after: int) -> Frames:
        """Yield frames of rendered entries; the id of a frame is the number of its last entry."""
        async for news in self.logs.follow(run_id, match, after):
            html = self.pages.text("runs/parts/entries.html", entries=news.entries)
            last = news.entries[-1].number
            yield frame("log", {"html": html, "shown": last, "last": news.last, "count": len(news.entries)}, last)


class LogFilterQuery(msgspec.Struct, frozen=True):
    """The filter of the log; `after` is the number of the last entry on the page."""

    levels: str = DEFAULT_LEVELS
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""
    after: int = 0

    @property
    def match(self) -> LogMatch:
        """The entries that are chosen; unknown levels are ignored."""
        chosen = frozenset(self.levels.split(",")) & frozenset(LEVELS)
        return LogMatch(chosen or frozenset(LEVELS), self.text.strip())


class StreamHeaders(msgspec.Struct, frozen=True):
    """The number of the last entry that the browser has, when it connects again."""

    last_event_id: str | None = msgspec.field(default=None, name="last-event-id")


def shown(detail: RunDetail) -> dict[str, Any]:
    """Return the values of the parts of a run."""
    return {
        "detail": detail,
        "run": detail.run,
        "hosts": host_table(detail.hosts),
        "pace": pace_curve(detail.pace, is_over=detail.run.ended_at is not None) if detail.pace else None,
        "counted": MAX_COUNTED_TASKS,
    }


def actions(run: RunView, visitor: Visitor) -> frozenset[str]:
    """Return the actions that the state of a run and the role of the visitor allow."""
    return frozenset(legal("run", run.state, "person")) if visitor.may_act and not run.standing else frozenset()


@operation("GET", "/console/runs/{run_id}", "Show a run", access="reader")
async def show_run(
    services: RunDetailServices, run_id: int, query: LogFilterQuery, identity: Visitor
) -> ApiResponse[Any]:
    detail = await services.runs.detail(run_id)
    return services.pages.page(
        "runs/detail.html",
        identity,
        section="runs",
        log=await services.logs.newest(run_id, query.match, SHOWN_ENTRIES),
        levels=LEVELS,
        match=query.match,
        moves=actions(detail.run, identity),
        **shown(detail),
    )


@operation("GET", "/console/runs/{run_id}/stream", "Follow a run and its log", access="reader")
async def follow_run(
    services: RunDetailServices, run_id: int, query: LogFilterQuery, headers: StreamHeaders, identity: Visitor
) -> EventStream:
    mark = headers.last_event_id or ""
    after = query.after if (number := whole_number(mark)) is None else number
    parts = services.live.topic(("run", run_id), lambda: services.parts(run_id))
    return services.live.stream([parts, services.log_frames(run_id, query.match, after)], identity.session)


@operation("POST", "/console/runs/{run_id}/cancel", "Cancel a run", access="action", action="run.cancel")
async def cancel_run(services: RunDetailServices, run_id: int, identity: Visitor) -> ApiResponse[Any]:
    await services.actions.cancel(run_id, identity.reason)
    return acted(f"/console/runs/{run_id}", f"Run {run_id:,} is cancelled.")


@operation("POST", "/console/runs/{run_id}/retry", "Fetch failed URLs again", access="action", action="task.restart")
async def retry_run(services: RunDetailServices, run_id: int, identity: Visitor) -> ApiResponse[Any]:
    count = await services.actions.retry_failed(run_id, identity.reason)
    return acted(f"/console/runs/{run_id}", f"{counted(count, 'failed URL')} will be fetched again.")


RUN_DETAIL = (show_run, follow_run, cancel_run, retry_run)
